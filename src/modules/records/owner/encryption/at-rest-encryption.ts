import { GatewayError } from '#kernel/errors.ts';
import { splitKey } from '#kernel/ids.ts';
import type { Vault } from '#modules/access/vault/vault.ts';

/** Payloads of a stream that are sealed as one, in their order. */
export interface PayloadGroup {
  readonly ids: readonly string[];
  /** Bytes of each. */
  readonly lengths: readonly number[];
}

/**
 * Seals what a state store keeps under the key of the stream's connection. Calls are synchronous: a change of a stream
 * awaits its key first, or finds that it was destroyed.
 */
export interface AtRestEncryption {
  seal(streamKey: string, group: PayloadGroup, plain: Uint8Array): Buffer;
  /** @throws GatewayError `invalid_credentials` when the key is gone or the bytes were changed */
  open(streamKey: string, group: PayloadGroup, sealed: Uint8Array): Buffer;
  /** Whether the key was destroyed: nothing can be sealed, and nothing that was is readable. */
  isGone(streamKey: string): boolean;
}

const nothing: PayloadGroup = { ids: [], lengths: [] };

export function createAtRestEncryption(
  vault: Pick<Vault, 'sealBytes' | 'openBytes'>,
): AtRestEncryption {
  const seal: AtRestEncryption['seal'] = (streamKey, group, plain) =>
    vault.sealBytes(connectionOf(streamKey), plain, contextOf(streamKey, group));
  return {
    seal,
    open: (streamKey, group, sealed) =>
      vault.openBytes(connectionOf(streamKey), sealed, contextOf(streamKey, group)),
    isGone(streamKey) {
      try {
        seal(streamKey, nothing, new Uint8Array());
        return false;
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'invalid_credentials') return true;
        throw error;
      }
    },
  };
}

/** Waits until this node has the key; whether there is none any more. Before a change of its stream. */
export async function isKeyGone(vault: Pick<Vault, 'ready'>, keyId: string): Promise<boolean> {
  try {
    await vault.ready(keyId);
    return false;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'not_found') return true;
    throw error;
  }
}

const contextOf = (streamKey: string, { ids, lengths }: PayloadGroup): string =>
  `kept/${streamKey}/${JSON.stringify([ids, lengths])}`;

/** The second part of a stream's key. */
const connectionOf = (streamKey: string): string => splitKey(streamKey)[1] ?? '';
