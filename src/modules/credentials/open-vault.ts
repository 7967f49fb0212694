import { createHmac } from 'node:crypto';
import type { Logger } from 'pino';
import { GatewayError } from '../../kernel/errors.ts';
import type { Sealed } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/stable-json.ts';
import type { Clock } from '../../kernel/time.ts';
import type { Cipher } from '../../ports/cipher.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { Schemas } from '../../ports/schemas.ts';
import {
  createKeyWriter,
  followKeys,
  keysTopic,
  type KeyFollower,
  type KeyWriter,
} from './key-log.ts';
import { KeyRing, type WrappedKey } from './key-ring.ts';
import type { RootKey } from './root-keys.ts';
import type { Vault } from './vault.ts';

/** The key of the service's own keyed hashes; also the canary that proves the root key. */
const serviceKeyId = 'service';
const accountKeyId = 'account';

export interface VaultDeps {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly rootKeys: readonly RootKey[];
  readonly newCipher: (key: Uint8Array) => Cipher;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface OpenVault extends Vault, AsyncDisposable {
  /** Wraps every key anew that not the first root key wrapped; resolves with their number. */
  rewrap(): Promise<number>;
}

/**
 * Follows the wrapped keys and serves this thread. On the first start it makes the keys of the service and
 * of the account.
 * @throws Error when the root keys do not open what is there
 */
export async function openVault(deps: VaultDeps): Promise<OpenVault> {
  const codec = await deps.schemas.codec<WrappedKey>(keysTopic);
  const ring = new KeyRing(deps.rootKeys, deps.newCipher);
  const follower = followKeys(deps, codec, ring);
  try {
    await follower.caughtUp();
    proveRootKey(ring);
    const keys = createKeyWriter(deps, codec, ring, follower);
    await keys.create(serviceKeyId);
    await keys.create(accountKeyId);
    return vaultOf(ring, keys, follower);
  } catch (error) {
    await follower.close();
    throw error;
  }
}

function vaultOf(ring: KeyRing, keys: KeyWriter, follower: KeyFollower): OpenVault {
  return {
    create: (keyId) => keys.create(keyId),
    async ready(keyId) {
      if (ring.has(keyId)) return;
      await follower.caughtUp();
      if (!ring.has(keyId)) {
        throw new GatewayError('not_found', { message: 'The key of this secret is gone.' });
      }
    },
    seal: (keyId, value, context) => sealText(ring, keyId, value, context),
    open: (keyId, sealed, context) => openText(ring, keyId, sealed, context),
    sealBytes: (keyId, plain, context) => ring.cipher(keyId).seal(plain, context),
    openBytes: (keyId, sealed, context) => ring.cipher(keyId).open(sealed, context),
    fingerprint: (purpose, text) =>
      createHmac('sha256', ring.bytes(serviceKeyId)).update(`${purpose}\0${text}`).digest('hex'),
    shred: (keyId) => keys.shred(keyId),
    rewrap: () => keys.rewrap(),
    async [Symbol.asyncDispose]() {
      await keys.close();
      await follower.close();
    },
  };
}

/** `v1.<key id>.<nonce, ciphertext and tag in base64url>` */
function sealText<T extends Json>(
  ring: KeyRing,
  keyId: string,
  value: T,
  context: string,
): Sealed<T> {
  const sealed = ring.cipher(keyId).seal(Buffer.from(JSON.stringify(value)), context);
  return `v1.${keyId}.${sealed.toString('base64url')}` as Sealed<T>;
}

function openText<T extends Json>(
  ring: KeyRing,
  keyId: string,
  sealed: Sealed<T>,
  context: string,
): T {
  const [version, id, body, ...rest] = sealed.split('.');
  if (version !== 'v1' || id !== keyId || body === undefined || rest.length > 0) {
    throw new GatewayError('invalid_credentials', { message: 'The sealed text is not ours.' });
  }
  const plain = ring.cipher(keyId).open(Buffer.from(body, 'base64url'), context);
  return JSON.parse(plain.toString()) as T;
}

/** The service's own key is there from the first start on: whoever opens it has the right root key. */
function proveRootKey(ring: KeyRing): void {
  if (!ring.has(serviceKeyId)) return;
  try {
    ring.bytes(serviceKeyId);
  } catch (error) {
    const message =
      'SVC_ENCRYPTION_KEY does not open what is stored here. Start with the key that was used before ' +
      '(to change it, put the new key first and keep the old one after it).';
    throw new Error(message, { cause: error });
  }
}
