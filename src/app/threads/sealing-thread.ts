import { workerData } from 'node:worker_threads';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import { connect } from '#adapters/threads/rpc.ts';
import type { PeerData } from '#adapters/threads/start-peer.ts';
import { trimWhenQuiet } from '#adapters/threads/trim-memory.ts';
import { PayloadSealer, sealEach } from '#modules/records/model/sealed-payload.ts';
import type { Cipher } from '#ports/cipher.ts';
import type { ToSeal } from './sealing.ts';

let cipher: Cipher | null = null;
const sealer = new PayloadSealer({
  sealBytes(_keyId, plain, context) {
    if (cipher === null) throw new Error('No key was given.');
    return cipher.seal(plain, context);
  },
});

const { port } = workerData as PeerData;
trimWhenQuiet();
connect(port, {
  seal({ owner, dataKey, ...payloads }: ToSeal) {
    cipher = createAesGcm(dataKey);
    try {
      return sealEach(sealer, owner, payloads);
    } finally {
      cipher = null;
    }
  },
});
