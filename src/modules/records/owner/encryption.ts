import { GatewayError } from '#kernel/errors.ts';
import { splitKey } from '#kernel/ids.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { LookedUp, RecordCommandValue } from '../model/commands.ts';
import type { PayloadEncoding } from '../model/events.ts';
import {
  blockContext,
  isSealed,
  payloadContext,
  PayloadOpener,
  type PayloadOwner,
  type PayloadSealing,
  type SealTogether,
} from '../model/sealed-payload.ts';

/** In the form of an event, or JSON that is sealed with its neighbors before it goes into a file (`secret`). */
export type KeptEncoding = PayloadEncoding | 'secret';

export interface KeptPayload {
  readonly encoding: KeptEncoding;
  /** Null once pruned. That of a secret in a block is opened here. @throws as `AtRestEncryption.open` */
  readonly bytes: Uint8Array | null;
}

/** Opens the payloads of one partition, and seals those of answers. */
export interface Opening {
  readonly vault: Pick<Vault, 'sealBytes' | 'openBytes'>;
  readonly opener: PayloadOpener;
}

export const createOpening = (vault: Opening['vault']): Opening => ({
  vault,
  opener: new PayloadOpener(vault),
});

/** The payloads of a command, however they traveled. A block is opened when the first of its payloads is asked for. */
export class CommandPayloads {
  readonly #opening: Opening;
  readonly #stream: PayloadOwner;
  readonly #command: RecordCommandValue;
  #joined: Uint8Array | null = null;

  constructor(opening: Opening, stream: PayloadOwner, command: RecordCommandValue) {
    this.#opening = opening;
    this.#stream = stream;
    this.#command = command;
  }

  /** The payload of the record with the index, as it is kept. */
  kept(index: number): KeptPayload {
    return this.keep(this.plain(index));
  }

  /** JSON in UTF-8 as it is kept: secret where the command's payloads traveled sealed. */
  keep(plain: Uint8Array): KeptPayload {
    return { bytes: plain, encoding: isSealed(this.#command.encoding) ? 'secret' : 'json' };
  }

  /** The payload of the record with the index as JSON in UTF-8. */
  plain(index: number): Uint8Array {
    const bytes = this.#bytes(index);
    const { encoding, ids } = this.#command;
    if (encoding !== 'json+aes256gcm') return bytes;
    return this.opened(ids[index] ?? '', { bytes, encoding });
  }

  /** JSON in UTF-8 of a kept payload that has not been pruned. */
  opened(recordId: string, { bytes, encoding }: KeptPayload): Uint8Array {
    if (bytes === null) return new Uint8Array();
    if (encoding === 'secret') return bytes;
    return this.#opening.opener.open(this.#stream, { recordId, encoding, bytes });
  }

  /** A kept payload as a reply carries it: a secret sealed by itself, as it is. */
  lookedUp(recordId: string, payload: KeptPayload): Pick<LookedUp, 'payload' | 'isSealed'> {
    if (payload.bytes === null) return { payload: null, isSealed: false };
    const plain = Buffer.from(this.opened(recordId, payload));
    if (payload.encoding === 'json') return { payload: plain.toString(), isSealed: false };
    const { key, connectionUid } = this.#stream;
    const context = payloadContext(key, recordId);
    const sealed = this.#opening.vault.sealBytes(connectionUid, plain, context);
    return { payload: sealed.toString('base64'), isSealed: true };
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
    return this.#opening.vault.openBytes(connectionUid, payloads, blockContext(key, this.#command));
  }
}

/** Sent to be sealed at once: enough that a hand-over costs little, few enough that sealing begins early. */
const togetherMax = 250;
const togetherBytesMax = 256 * 1024;

/** Payloads of one stream that wait for one another. */
interface Group {
  readonly owner: PayloadOwner;
  readonly seal: SealTogether;
  readonly ids: string[];
  readonly payloads: Uint8Array[];
  readonly ends: number[];
  readonly done: ((sealed: Uint8Array) => void)[];
}

/** Gathers payloads and has them sealed while their stream's owner goes on deciding. */
export class PendingEncryption {
  readonly #sealing: PayloadSealing;
  #group: Group | null = null;
  #underWay: Promise<void>[] = [];

  constructor(sealing: PayloadSealing) {
    this.#sealing = sealing;
  }

  /** Whether some were sent since `finish` was called last. */
  get isUnderWay(): boolean {
    return this.#underWay.length > 0;
  }

  /**
   * `json`: in UTF-8. `done` gets the payload of the event before `finish` resolves.
   * @throws GatewayError `invalid_credentials` when the key of the connection is gone
   */
  add(
    owner: PayloadOwner,
    recordId: string,
    json: Uint8Array,
    done: (sealed: Uint8Array) => void,
  ): void {
    if (this.#group?.owner.key !== owner.key) this.#send();
    this.#group ??= newGroup(owner, this.#sealing.begin(owner));
    const { ids, payloads, ends } = this.#group;
    ids.push(recordId);
    payloads.push(json);
    const end = (ends.at(-1) ?? 0) + json.length;
    ends.push(end);
    this.#group.done.push(done);
    if (ids.length === togetherMax || end >= togetherBytesMax) this.#send();
  }

  /** Resolves when all that was added up to now is sealed. */
  async finish(): Promise<void> {
    this.#send();
    const underWay = this.#underWay;
    this.#underWay = [];
    await Promise.all(underWay);
  }

  #send(): void {
    if (this.#group === null) return;
    const { seal, ids, payloads, ends, done } = this.#group;
    this.#group = null;
    const sealed = seal({ ids, ends, joined: Buffer.concat(payloads) }).then((answer) => {
      for (const [at, publish] of done.entries()) {
        publish(answer.joined.subarray(answer.ends[at - 1] ?? 0, answer.ends[at]));
      }
    });
    // `finish` rejects with it; until then the rejection has no other handler.
    sealed.catch(() => undefined);
    this.#underWay.push(sealed);
  }
}

const newGroup = (owner: PayloadOwner, seal: SealTogether): Group => ({
  owner,
  seal,
  ids: [],
  payloads: [],
  ends: [],
  done: [],
});

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
