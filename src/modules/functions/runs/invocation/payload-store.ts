import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { firstMessage } from '#control-plane/consume.ts';
import type { LogPorts } from '#control-plane/ports.ts';
import { GatewayError } from '#kernel/errors.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { Instant } from '#kernel/time.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import type { RunBody } from '#streams/values.ts';
import type { BodyPlace } from '../ledger/events.ts';
import type { Piece } from '../runtime/recording.ts';

const topic = 'svc.internal.run-bodies.v1';
/** Cache of bodies written by this process, in characters. */
const rememberedBodies = {
  maxSize: 16 * 1024 ** 2,
  maxEntrySize: 4 * 1024 ** 2,
  sizeCalculation: ({ length }: string) => length,
};
/** Limit of the bodies that wait to be stored in the background. */
const waitingBytesMax = 16 * 1024 ** 2;

type BodyPart = 'input' | 'output' | CallsPart;
/** A piece of the recorded calls of an attempt: its number, and that of the piece. */
type CallsPart = `calls/${number}/${number}`;

/** The owner of a body: the sealing context. */
export interface BodyOwner {
  readonly runId: string;
  readonly environmentUid: string;
  readonly connectionUid: string;
}

/** Inputs, outputs and recorded calls of runs, sealed under the key of their connection; kept for 7 days. */
export interface PayloadStore {
  /** Durable when it resolves. */
  put(owner: BodyOwner, part: BodyPart, json: string): Promise<{ place: BodyPlace; hash: string }>;
  /**
   * Fire-and-forget variant of `put`, for what this process does not read again: without an error, and not stored while
   * too many bytes wait.
   */
  keep(owner: BodyOwner, part: BodyPart, json: string): void;
  /** Appends a piece of the recorded calls of an attempt. Durable when it resolves. */
  putCalls(owner: BodyOwner, piece: Piece): Promise<void>;
  /**
   * The pieces of all attempts of a run.
   * @returns null: the connection's key was destroyed
   * @throws GatewayError `log_unavailable`
   */
  findCalls(sought: SoughtCalls): Promise<Piece[] | null>;
  /** Keyed hash: it detects equal bodies and reveals nothing. */
  hash(json: string): string;
  /**
   * Seals a text that stands in a public message, in base64.
   * @throws GatewayError when the connection's key was destroyed
   */
  sealText(owner: BodyOwner, text: string): Promise<string>;
  /** Null: the connection's key was destroyed. */
  openText(owner: BodyOwner, sealed: string): Promise<string | null>;
  /** @throws GatewayError `not_found` when the body has expired or the connection's key was destroyed. */
  get(owner: BodyOwner, part: BodyPart, bodyPlace: BodyPlace): Promise<string>;
  /**
   * The body of a run whose position is not known. Null: there is none, it has expired, or the connection's key was
   * destroyed.
   * @throws GatewayError `log_unavailable`
   */
  find(sought: SoughtBody, part: BodyPart): Promise<string | null>;
}

/** A body by its run. */
export interface SoughtBody {
  readonly runId: string;
  readonly environmentUid: string;
  /** When the run was queued, ms. */
  readonly queuedAt: Instant;
}

/** The recorded calls of a run that was queued, and ended, at these times (ms). */
export interface SoughtCalls extends SoughtBody {
  readonly endedAt: Instant;
}

export interface PayloadStoreDeps extends LogPorts {
  readonly logger: Logger;
  readonly vault: Vault;
}

export function createPayloadStore(deps: PayloadStoreDeps): PayloadStore {
  const { log, vault, logger } = deps;
  const opened = Promise.all([deps.schemas.codec<RunBody>(topic), log.partitions(topic)]);
  // The first read gets the error; without a read there is no unhandled rejection.
  opened.catch(() => undefined);
  // Each is read once: by the runner, or by the caller that waits for the outcome.
  const remembered = new LRUCache<string, string>(rememberedBodies);
  let waitingBytes = 0;
  const append = async (owner: BodyOwner, part: BodyPart, bytes: Buffer): Promise<BodyPlace> => {
    const [codec, partitions] = await opened;
    await vault.ready(owner.connectionUid);
    const value = codec.encode({
      run_id: owner.runId,
      part,
      key_id: owner.connectionUid,
      environment_id: owner.environmentUid,
      body: vault.sealBytes(owner.connectionUid, bytes, contextOf(owner, part)),
    });
    const partition = partitionOf(owner.runId, partitions);
    const message = { key: owner.runId, value, headers: { 'content-type': 'application/avro' } };
    const [position] = await log.append([{ topic, partition, messages: [message] }]);
    if (position === undefined) throw new GatewayError('log_unavailable');
    return { partition, offset: position.offset };
  };
  const hash = (json: string): string => vault.fingerprint('run-body', json).slice(0, 32);
  return {
    hash,
    ...failureTexts(vault),
    ...callPieces(deps, opened, append),

    async put(owner, part, json) {
      const place = await append(owner, part, Buffer.from(json));
      remembered.set(nameOf(place), json);
      return { place, hash: hash(json) };
    },

    keep(owner, part, json) {
      if (waitingBytes + json.length > waitingBytesMax) return;
      waitingBytes += json.length;
      void append(owner, part, Buffer.from(json))
        .catch((err: unknown) => logger.debug({ err, runId: owner.runId }, lostBody))
        .finally(() => (waitingBytes -= json.length));
    },

    async get(owner, part, bodyPlace) {
      const existing = remembered.get(nameOf(bodyPlace));
      if (existing !== undefined) {
        remembered.delete(nameOf(bodyPlace));
        return existing;
      }
      const [codec] = await opened;
      const body = await readBody(log, codec, bodyPlace);
      if (body?.run_id !== owner.runId || body.part !== part) throw new GatewayError('not_found');
      await vault.ready(owner.connectionUid);
      return vault.openBytes(owner.connectionUid, body.body, contextOf(owner, part)).toString();
    },

    async find(sought, part) {
      const [codec, partitions] = await opened;
      const body = await searchBody(log, codec, { ...sought, part, partitions });
      if (body === null) return null;
      return textOf(await openIfKept(vault, ownerOf(body), part, body.body));
    },
  };
}

const lostBody = 'a body of a run was not stored';

type BodyTopic = Promise<readonly [Codec<RunBody>, number]>;

/** The recorded calls of attempts, in pieces. */
const callPieces = (
  { log, vault }: Pick<PayloadStoreDeps, 'log' | 'vault'>,
  opened: BodyTopic,
  append: (owner: BodyOwner, part: BodyPart, bytes: Buffer) => Promise<BodyPlace>,
): Pick<PayloadStore, 'putCalls' | 'findCalls'> => ({
  async putCalls(owner, { attempt, number, bytes }) {
    await append(owner, `calls/${attempt}/${number}`, bytes);
  },

  async findCalls(sought) {
    const [codec, partitions] = await opened;
    const pieces: Piece[] = [];
    for await (const body of bodiesOf(log, codec, { ...sought, partitions })) {
      const [kind, attempt, number] = body.part.split('/');
      if (kind !== 'calls') continue;
      const bytes = await openIfKept(vault, ownerOf(body), body.part as CallsPart, body.body);
      if (bytes === null) return null;
      pieces.push({ attempt: Number(attempt), number: Number(number), bytes });
    }
    return pieces;
  },
});

/** The response of a provider in a failure. */
const failureTexts = (vault: Vault): Pick<PayloadStore, 'sealText' | 'openText'> => ({
  async sealText(owner, text) {
    const { connectionUid } = owner;
    await vault.ready(connectionUid);
    const sealed = vault.sealBytes(connectionUid, Buffer.from(text), contextOf(owner, 'failure'));
    return sealed.toString('base64');
  },
  openText: async (owner, sealed) =>
    textOf(await openIfKept(vault, owner, 'failure', Buffer.from(sealed, 'base64'))),
});

const textOf = (bytes: Buffer | null): string | null => bytes?.toString() ?? null;

const ownerOf = ({ run_id, environment_id, key_id }: RunBody): BodyOwner => ({
  runId: run_id,
  environmentUid: environment_id,
  connectionUid: key_id,
});

const contextOf = (owner: BodyOwner, part: BodyPart | 'failure'): string =>
  `${owner.environmentUid}/${owner.connectionUid}/run-body/${owner.runId}/${part}`;

async function readBody(
  log: EventLog,
  codec: Codec<RunBody>,
  bodyPlace: BodyPlace,
): Promise<RunBody | null> {
  const first = await firstMessage(log, { topic, ...bodyPlace });
  return first?.offset === bodyPlace.offset && first.value !== null
    ? codec.decode(first.value)
    : null;
}

/** Null: the key of the connection was destroyed. */
async function openIfKept(
  vault: Vault,
  owner: BodyOwner,
  part: BodyPart | 'failure',
  sealed: Uint8Array,
): Promise<Buffer | null> {
  const { connectionUid } = owner;
  try {
    await vault.ready(connectionUid);
    return Buffer.from(vault.openBytes(connectionUid, sealed, contextOf(owner, part)));
  } catch (error) {
    if (error instanceof GatewayError && isDestroyed.has(error.code)) return null;
    throw error;
  }
}

/** Of a key that is destroyed, or is while it is used. */
const isDestroyed = new Set<string>(['not_found', 'invalid_credentials']);

/** Bodies are put when their run is queued; clocks of nodes may differ. */
const searchedBeforeMs = 15_000;
const searchedAfterMs = 60_000;
const searchMaxMs = 10_000;

async function searchBody(
  log: EventLog,
  codec: Codec<RunBody>,
  sought: SoughtBody & { readonly part: BodyPart; readonly partitions: number },
): Promise<RunBody | null> {
  for await (const body of bodiesOf(log, codec, { ...sought, endedAt: sought.queuedAt })) {
    if (body.part === sought.part) return body;
  }
  return null;
}

/**
 * The bodies of a run. The key leads to the partition, and the time to a short range of it: no index is needed.
 * @throws GatewayError `log_unavailable`
 */
async function* bodiesOf(
  log: EventLog,
  codec: Codec<RunBody>,
  sought: SoughtCalls & { readonly partitions: number },
): AsyncGenerator<RunBody> {
  const { runId, queuedAt, endedAt } = sought;
  const partition = partitionOf(runId, sought.partitions);
  const offset = await log.offsetAt(topic, partition, queuedAt - searchedBeforeMs);
  const signal = AbortSignal.timeout(searchMaxMs);
  for await (const { messages } of log.read({ topic, partition, offset }, { signal })) {
    for (const { key, value, timestamp } of messages) {
      if (timestamp > endedAt + searchedAfterMs) return;
      if (key !== runId || value === null) continue;
      const body = codec.decode(value);
      if (body.environment_id === sought.environmentUid) yield body;
    }
  }
  if (!signal.aborted) return;
  const message = 'The body of the run was not found in time.';
  throw new GatewayError('log_unavailable', { message });
}

const nameOf = (bodyPlace: BodyPlace): string => `${bodyPlace.partition}/${bodyPlace.offset}`;
