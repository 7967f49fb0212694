import { createHmac } from 'node:crypto';
import type { Ports } from '#control-plane/ports.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import type { Json } from '#kernel/stable-json.ts';
import type { Cipher } from '#ports/cipher.ts';
import {
  createKeyWriter,
  followKeys,
  keysTopic,
  type KeyFollower,
  type KeyWriter,
} from './key-log.ts';
import { KeyRing, type RootKeyUse, type WrappedKey } from './key-ring.ts';
import { restoreKey, type RootKey } from './root-keys.ts';
import type { Vault } from './vault.ts';

/** The key of the service's own keyed hashes; also the canary that proves the root key. */
const serviceKeyId = 'service';
const accountKeyId = 'account';

export interface VaultDeps extends Ports {
  readonly rootKeys: readonly RootKey[];
  readonly newCipher: (key: Uint8Array) => Cipher;
  readonly faultPoint?: (name: string) => void;
}

/** The root keys of this process, and the keys that they wrap in the log. */
export interface RootKeyRing {
  use(): RootKeyUse;
  /**
   * Wraps with the first root key every data key that another root key wrapped, in batches, so that keys can be created
   * and destroyed in between; resolves with their number. An interruption keeps the finished batches.
   */
  rewrap(signal?: AbortSignal): Promise<number>;
}

export interface OpenVault extends Vault, RootKeyRing, AsyncDisposable {}

/**
 * Consumes the wrapped keys for this thread. The first start creates the keys of the service and of the account.
 * @throws CannotStart when the root keys do not open the existing keys
 */
export async function openVault(deps: VaultDeps): Promise<OpenVault> {
  const codec = await deps.schemas.codec<WrappedKey>(keysTopic);
  const ring = new KeyRing(deps.rootKeys, deps.newCipher);
  const follower = followKeys(deps, codec, ring);
  try {
    await follower.caughtUp();
    proveRootKeys(ring, deps.rootKeys);
    const keys = createKeyWriter(deps, codec, ring, follower);
    await keys.createShared(serviceKeyId);
    await keys.createShared(accountKeyId);
    return vaultOf(deps, ring, keys, follower);
  } catch (error) {
    await follower.close();
    throw error;
  }
}

function vaultOf(
  { log }: VaultDeps,
  ring: KeyRing,
  keys: KeyWriter,
  follower: KeyFollower,
): OpenVault {
  return {
    create: (keyId) => keys.create(keyId),
    async ready(keyId) {
      if (ring.has(keyId)) return;
      await follower.caughtUp();
      if (!ring.has(keyId)) {
        throw new GatewayError('not_found', { message: 'The key of this secret was destroyed.' });
      }
    },
    seal: (keyId, value, context) => sealText(ring, keyId, value, context),
    open: (keyId, sealed, context) => openText(ring, keyId, sealed, context),
    sealBytes: (keyId, plain, context) => ring.cipher(keyId).seal(plain, context),
    openBytes: (keyId, sealed, context) => ring.cipher(keyId).open(sealed, context),
    dataKey: (keyId) => Uint8Array.from(ring.bytes(keyId)),
    fingerprint: (purpose, text) =>
      createHmac('sha256', ring.bytes(serviceKeyId)).update(`${purpose}\0${text}`).digest('hex'),
    async shred(keyId) {
      await keys.shred(keyId);
      return log.erasureMs;
    },
    use: () => ring.use(),
    rewrap: (signal) => keys.rewrap(signal),
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
    throw new GatewayError('invalid_credentials', { message: 'The sealed text is not valid.' });
  }
  const plain = ring.cipher(keyId).open(Buffer.from(body, 'base64url'), context);
  return JSON.parse(plain.toString()) as T;
}

/**
 * The service's own key exists since the first start: a root key that opens it is the right one. No data key may need a
 * root key that was removed too early.
 */
function proveRootKeys(ring: KeyRing, rootKeys: readonly RootKey[]): void {
  if (!ring.has(serviceKeyId)) return;
  try {
    ring.bytes(serviceKeyId);
  } catch (error) {
    const file = rootKeys[0]?.file ?? null;
    const message =
      file === null
        ? 'SVC_ENCRYPTION_KEY does not decrypt the stored secrets. Start with the key that was used before ' +
          '(to change it, put the new key first and keep the old one after it).'
        : `The root key in ${file} does not decrypt the stored secrets. ${restoreKey}`;
    throw new CannotStart(message, { cause: error });
  }
  const [missing] = missingRoots(ring.use());
  if (missing === undefined) return;
  const message =
    `SVC_ENCRYPTION_KEY lacks the root key ${missing.id}, which still wraps ${missing.keys} data keys. ` +
    'Put it back after the others, and let "svc root-keys rewrap" finish before it goes.';
  throw new CannotStart(message);
}

/** Root keys that wrap data keys and are not configured on this node. */
export function missingRoots({ known, wrapped }: RootKeyUse): { id: string; keys: number }[] {
  return [...wrapped].flatMap(([id, keys]) => (known.includes(id) ? [] : [{ id, keys }]));
}
