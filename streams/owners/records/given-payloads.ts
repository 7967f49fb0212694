import type { Vault } from '../../../src/modules/credentials/vault.ts';
import type { RecordCommandValue } from '../../../src/modules/records/commands.ts';
import { blockContext, payloadContext } from '../../../src/modules/records/sealed-payload.ts';
import type { KeptPayload } from './state-store.ts';

interface Owner {
  readonly key: string;
  readonly connectionUid: string;
}

/**
 * The payloads of a command, however they travelled. A block is opened when the first of its payloads is asked
 * for: a command of unchanged records never is.
 */
export class GivenPayloads {
  readonly #vault: Pick<Vault, 'sealBytes' | 'openBytes'>;
  readonly #stream: Owner;
  readonly #command: RecordCommandValue;
  #joined: Uint8Array | null = null;

  constructor(
    vault: Pick<Vault, 'sealBytes' | 'openBytes'>,
    stream: Owner,
    command: RecordCommandValue,
  ) {
    this.#vault = vault;
    this.#stream = stream;
    this.#command = command;
  }

  /** The payload of the record with the index, as it is kept. */
  kept(index: number): KeptPayload {
    const bytes = this.#bytes(index);
    const { encoding } = this.#command;
    if (encoding === 'json+aes256gcm') return { bytes, isSealed: true };
    return this.keep(this.#command.ids[index] ?? '', bytes);
  }

  /** JSON in UTF-8 as it is kept: sealed where the command's payloads travelled sealed. */
  keep(id: string, plain: Uint8Array): KeptPayload {
    const isSealed = this.#command.encoding.endsWith('aes256gcm');
    if (!isSealed) return { bytes: plain, isSealed };
    const { key, connectionUid } = this.#stream;
    const bytes = this.#vault.sealBytes(connectionUid, plain, payloadContext(key, id));
    return { bytes, isSealed };
  }

  /** The payload of the record with the index as JSON in UTF-8. */
  plain(index: number): Uint8Array {
    const bytes = this.#bytes(index);
    if (this.#command.encoding !== 'json+aes256gcm') return bytes;
    return this.opened(this.#command.ids[index] ?? '', { bytes, isSealed: true });
  }

  /** JSON in UTF-8 of a kept payload that has not been pruned. */
  opened(id: string, { bytes, isSealed }: KeptPayload): Uint8Array {
    if (bytes === null || !isSealed) return bytes ?? new Uint8Array();
    const { key, connectionUid } = this.#stream;
    return this.#vault.openBytes(connectionUid, bytes, payloadContext(key, id));
  }

  #bytes(index: number): Uint8Array {
    const { ends } = this.#command;
    this.#joined ??= this.#open();
    return this.#joined.subarray(index === 0 ? 0 : ends[index - 1], ends[index]);
  }

  #open(): Uint8Array {
    const { encoding, payloads } = this.#command;
    if (encoding !== 'json-block+aes256gcm') return payloads;
    const { key, connectionUid } = this.#stream;
    return this.#vault.openBytes(connectionUid, payloads, blockContext(key, this.#command));
  }
}
