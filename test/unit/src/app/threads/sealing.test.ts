import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import { startSealing } from '#app/threads/sealing.ts';
import { GatewayError } from '#kernel/errors.ts';
import {
  type UnsealedPayloads,
  PayloadOpener,
  sealedEncoding,
} from '#modules/records/model/sealed-payload.ts';

const keys = new Map([
  ['connection-1', randomBytes(32)],
  ['connection-2', randomBytes(32)],
]);
const keyOf = (keyId: string): Uint8Array => {
  const key = keys.get(keyId);
  if (key === undefined) throw new GatewayError('invalid_credentials');
  return key;
};
const opener = new PayloadOpener({
  openBytes: (keyId, sealed, context) => createAesGcm(keyOf(keyId)).open(sealed, context),
});
const ownerOf = (at: number) => ({ key: `stream-${at}`, connectionUid: `connection-${at}` });

function payloadsOf(texts: readonly string[]): UnsealedPayloads {
  let end = 0;
  return {
    ids: texts.map((_, at) => `r-${at}`),
    ends: texts.map((text) => (end += Buffer.byteLength(text))),
    joined: Buffer.from(texts.join('')),
  };
}

it('seals each payload under the key of its connection, for its stream and its record', async () => {
  await using sealing = startSealing({ dataKey: keyOf });
  // Enough of them that a dictionary is learnt on the way.
  const texts = Array.from({ length: 100 }, (_, at) => JSON.stringify({ id: `r-${at}`, ü: 'é' }));
  const owners = [ownerOf(1), ownerOf(2)];
  const all = await Promise.all(owners.map((owner) => sealing.begin(owner)(payloadsOf(texts))));
  for (const [which, { joined, ends }] of all.entries()) {
    const opened = ends.map((end, at) => {
      const bytes = joined.subarray(ends[at - 1] ?? 0, end);
      const payload = { recordId: `r-${at}`, encoding: sealedEncoding, bytes } as const;
      return opener.open(owners[which]!, payload).toString();
    });
    expect(opened).toEqual(texts);
    expect(Buffer.from(joined).includes('r-1')).toBe(false);
  }
});

it('begins nothing under a key that is gone', async () => {
  await using sealing = startSealing({ dataKey: keyOf });
  expect(() => sealing.begin(ownerOf(3))).toThrow(
    expect.objectContaining({ code: 'invalid_credentials' }),
  );
});

it('leaves nobody waiting when it ends', async () => {
  const sealing = startSealing({ dataKey: keyOf });
  const sealed = sealing.begin(ownerOf(1))(payloadsOf(['{"id":"a"}']));
  const outcome = expect(sealed).rejects.toMatchObject({ code: 'log_unavailable' });
  await sealing[Symbol.asyncDispose]();
  await outcome;
});
