import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { GatewayError } from '#kernel/errors.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { PayloadEncoding } from './events.ts';

/** A member's name with its quotes and colon; a word with the sign after it; a sign. */
const pieces = /"(?:[^"\\]|\\.)*":|[\p{L}\p{N}]+[^\p{L}\p{N}"]?|[^\p{L}\p{N}]/gu;
/** A piece that fewer samples have may be of one record alone, which can be pruned while others keep the dictionary. */
const sharedMin = 3;
const sharedShare = 1 / 32;
/** What so many have stands together in their order, so that one match spans it. */
const commonShare = 3 / 4;
const pieceBytesMin = 3;
/** A dictionary travels with each payload: what is worth less than these bytes costs more than it saves. */
const learntBytesMax = 640;

/**
 * What many of the texts share: names, words and the order of what nearly all have. Nothing that one text has
 * alone is in it. Empty when they share too little.
 */
export function learnDictionary(texts: readonly string[]): Buffer {
  const split = texts.map((text) => text.match(pieces) ?? []);
  const counts = new Map<string, number>();
  for (const some of split) {
    for (const piece of new Set(some)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  }
  const commonMin = Math.max(sharedMin, texts.length * commonShare);
  const frames = split.map((some) =>
    some.filter((piece) => (counts.get(piece) ?? 0) >= commonMin).join(''),
  );
  // Neither that of a text that repeats itself nor that of one that lacks much.
  const frame = frames.sort((a, b) => a.length - b.length)[frames.length >> 1] ?? '';
  const enough = Math.max(sharedMin, texts.length * sharedShare);
  const shared = [...counts]
    .filter(([piece, count]) => count >= enough && piece.length >= pieceBytesMin)
    .filter(([piece]) => !frame.includes(piece))
    .map(([piece, count]) => ({ piece, worth: count * piece.length }))
    .sort((a, b) => a.worth - b.worth);
  // The nearest costs least to point at, and what is too much is cut off at the front.
  const bytes = Buffer.from(shared.map(({ piece }) => piece).join('') + frame);
  return bytes.subarray(Math.max(0, bytes.length - learntBytesMax));
}

/** Owner of payloads that are sealed with the key of one connection. */
export interface PayloadOwner {
  /** `streamKey` of the stream. */
  readonly key: string;
  readonly connectionUid: string;
}

/** A payload in the form of an event. */
export interface SealedPayload {
  readonly recordId: string;
  readonly encoding: PayloadEncoding;
  readonly bytes: Uint8Array;
}

/** The written encoding; `json+aes256gcm`, of earlier releases, is only read. */
export const sealedEncoding = 'json+deflate+aes256gcm' satisfies PayloadEncoding;

/** The end of the name of each encoding that seals. */
export const sealedMark = 'aes256gcm';

export const isSealed = (encoding: string): boolean => encoding.endsWith(sealedMark);

/** Additional data of a payload of `json+aes256gcm` (`Vault.sealBytes`): its stream and the record's id. */
export function payloadContext(streamKey: string, recordId: string): string {
  return `record/${streamKey}/${encodeURIComponent(recordId)}`;
}

/** Additional data of the payloads of one command, sealed together: their stream, and the record of each. */
export function blockContext(
  streamKey: string,
  { ids, ends }: { readonly ids: readonly string[]; readonly ends: readonly number[] },
): string {
  return `records/${streamKey}/${JSON.stringify([ids, ends])}`;
}

/** Bytes at the beginning of a payload that is sealed so, shared with others of its stream. */
export function sharedBytes(payload: Uint8Array): number {
  const length = lengthBytes + (((payload[0] ?? 0) << 8) | (payload[1] ?? 0));
  return Math.min(length, payload.length);
}

const dictionaryContext = (streamKey: string): string => `dictionary/${streamKey}`;

/** Names the dictionary as well, by its tag: with another one the bytes would decode to something else. */
const deflatedContext = (streamKey: string, recordId: string, tag: string): string =>
  `deflated/${streamKey}/${encodeURIComponent(recordId)}/${tag}`;

const lengthBytes = 2;
const tagBytes = 16;

/** The sealed dictionary behind its length; without one, the length alone. */
interface Dictionary {
  readonly head: Buffer;
  readonly tag: string;
  readonly bytes: Buffer;
}

const noDictionary: Dictionary = {
  head: Buffer.alloc(lengthBytes),
  tag: '',
  bytes: Buffer.alloc(0),
};

/** A text of some hundred bytes: a stream of zlib with its default state costs twice as much to set up. */
const smallState = { windowBits: 11, memLevel: 2, chunkSize: 1024 };
/** Earlier releases wrote longer distances: inflating takes the longest window. */
const inflateState = { chunkSize: 1024 };
/** A dictionary of an event is far shorter; more is damage. */
const dictionaryBytesMax = 16_384;

/** Dictionary state of one stream. */
interface DictionaryState {
  dictionary: Dictionary;
  sealed: number;
  learnAt: number;
  samples: string[];
}

const streamsMax = 500;
/** A dictionary is trained on this number of payloads, and again each time their number has grown by this factor. */
const learnFirstAt = 32;
const learnAgainFactor = 16;
const samplesMax = 256;
const sampleCharsMax = 4096;

/**
 * Seals payloads one by one, each deflated first with a dictionary of its stream's payloads. A dictionary is of one
 * stream only, sealed under the key of its connection, and is part of each payload: an event can be read with its key
 * alone. Learned state is in memory only (docs/adr/0025-deflate-before-sealing.md).
 */
export class PayloadSealer {
  readonly #vault: Pick<Vault, 'sealBytes'>;
  readonly #streams = new LRUCache<string, DictionaryState>({ max: streamsMax });

  constructor(vault: Pick<Vault, 'sealBytes'>) {
    this.#vault = vault;
  }

  /** `json`: JSON in UTF-8. @throws as `Vault.sealBytes` */
  seal(owner: PayloadOwner, recordId: string, json: Uint8Array): Buffer {
    const learning = this.#learning(owner.key);
    const { head, tag, bytes: dictionary } = learning.dictionary;
    const deflated = deflateRawSync(json, { ...smallState, dictionary });
    const context = deflatedContext(owner.key, recordId, tag);
    const sealed = this.#vault.sealBytes(owner.connectionUid, deflated, context);
    this.#learn(owner, learning, json);
    return Buffer.concat([head, sealed], head.length + sealed.length);
  }

  #learning(streamKey: string): DictionaryState {
    const existing = this.#streams.get(streamKey);
    if (existing !== undefined) return existing;
    const made = { dictionary: noDictionary, sealed: 0, learnAt: learnFirstAt, samples: [] };
    this.#streams.set(streamKey, made);
    return made;
  }

  #learn(owner: PayloadOwner, learning: DictionaryState, json: Uint8Array): void {
    learning.sealed++;
    if (learning.sealed <= learning.learnAt - samplesMax) return;
    const text = Buffer.from(json.buffer, json.byteOffset, json.length).toString();
    learning.samples.push(text.slice(0, sampleCharsMax));
    if (learning.sealed < learning.learnAt) return;
    const learnt = learnDictionary(learning.samples);
    learning.samples = [];
    learning.learnAt *= learnAgainFactor;
    if (learnt.length > 0) learning.dictionary = this.#dictionary(owner, learnt);
  }

  #dictionary({ key, connectionUid }: PayloadOwner, bytes: Buffer): Dictionary {
    const packed = deflateRawSync(bytes, { level: 9 });
    const sealed = this.#vault.sealBytes(connectionUid, packed, dictionaryContext(key));
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt16BE(sealed.length);
    return {
      head: Buffer.concat([length, sealed]),
      tag: sealed.toString('hex', sealed.length - tagBytes),
      bytes,
    };
  }
}

interface OpenedDictionary {
  readonly streamKey: string;
  /** Prefix of a payload with a dictionary: its length, and the sealed dictionary. */
  readonly head: Buffer;
  readonly tag: string;
  readonly bytes: Buffer;
}

const openedMax = 500;

/** Opens the payloads of events, of every release. Caches the dictionaries. */
export class PayloadOpener {
  readonly #vault: Pick<Vault, 'openBytes'>;
  readonly #dictionaries = new LRUCache<string, OpenedDictionary>({ max: openedMax });
  /** Neighbors mostly have the same one. */
  #last: OpenedDictionary | null = null;

  constructor(vault: Pick<Vault, 'openBytes'>) {
    this.#vault = vault;
  }

  /**
   * JSON in UTF-8; that of a plain payload is the payload itself.
   * @throws GatewayError `invalid_credentials` when the key is gone or the bytes were changed
   */
  open(owner: PayloadOwner, { recordId, encoding, bytes }: SealedPayload): Buffer {
    const { key, connectionUid } = owner;
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (!isSealed(encoding)) return buffer;
    if (encoding === 'json+aes256gcm') {
      return this.#vault.openBytes(connectionUid, buffer, payloadContext(key, recordId));
    }
    const { head, tag, bytes: existing } = this.#dictionary(owner, buffer);
    const context = deflatedContext(key, recordId, tag);
    const deflated = this.#vault.openBytes(connectionUid, buffer.subarray(head.length), context);
    return inflateRawSync(deflated, { ...inflateState, dictionary: existing });
  }

  #dictionary(owner: PayloadOwner, buffer: Buffer): OpenedDictionary {
    const { key } = owner;
    const last = this.#last;
    if (last?.streamKey === key && beginsWith(buffer, last.head)) return last;
    const bodyAt = lengthBytes + (buffer.length < lengthBytes ? 0 : buffer.readUInt16BE());
    if (buffer.length < bodyAt) throw new GatewayError('invalid_credentials');
    const head = buffer.subarray(0, bodyAt);
    const tag = head.toString('hex', Math.max(lengthBytes, bodyAt - tagBytes));
    const existing = this.#dictionaries.get(key + tag);
    const isKnown = existing !== undefined && beginsWith(buffer, existing.head);
    const opened = isKnown ? existing : this.#opened(owner, Buffer.from(head), tag);
    this.#last = opened;
    return opened;
  }

  #opened({ key, connectionUid }: PayloadOwner, head: Buffer, tag: string): OpenedDictionary {
    const sealed = head.subarray(lengthBytes);
    if (sealed.length === 0) {
      return { streamKey: key, head, tag, bytes: noDictionary.bytes };
    }
    const packed = this.#vault.openBytes(connectionUid, sealed, dictionaryContext(key));
    const bytes = inflateRawSync(packed, { maxOutputLength: dictionaryBytesMax });
    const opened = { streamKey: key, head, tag, bytes };
    this.#dictionaries.set(key + tag, opened);
    return opened;
  }
}

/** A head begins with its length, so that none is the prefix of another. */
const beginsWith = (buffer: Buffer, head: Buffer): boolean =>
  buffer.length >= head.length && head.compare(buffer, 0, head.length) === 0;

/** Payloads of one stream, JSON in UTF-8 or sealed, in the order of their records. */
export interface JoinedPayloads {
  readonly joined: Uint8Array;
  /** Where each ends among the joined ones. */
  readonly ends: readonly number[];
}

export interface UnsealedPayloads extends JoinedPayloads {
  readonly ids: readonly string[];
}

/** Seals each payload on its own, as events have them. */
export type SealTogether = (payloads: UnsealedPayloads) => Promise<JoinedPayloads>;

/** Seals payloads asynchronously. */
export interface PayloadSealing {
  /**
   * With the key that the connection has at the time of this call.
   * @throws GatewayError `invalid_credentials` when it is gone
   */
  begin(owner: PayloadOwner): SealTogether;
}

export function sealEach(
  sealer: PayloadSealer,
  owner: PayloadOwner,
  { ids, ends, joined }: UnsealedPayloads,
): JoinedPayloads {
  let end = 0;
  const sealed = ids.map((id, at) =>
    sealer.seal(owner, id, joined.subarray(ends[at - 1] ?? 0, ends[at])),
  );
  return {
    joined: Buffer.concat(sealed),
    ends: sealed.map(({ length }) => (end += length)),
  };
}
