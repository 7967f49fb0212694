import { deadLettersTopic } from '#control-plane/message-codec.ts';
import { replyMessage } from '#control-plane/replies.ts';
import { sampledTrace, traceHeader } from '#control-plane/trace.ts';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { Clock, Micros } from '#kernel/time.ts';
import type { Message, GroupPositions, PartitionMessages, Position } from '#ports/event-log.ts';
import {
  type DeletedKeysArgs,
  type RecordCommandValue,
  recordCommandsTopic,
} from '../../model/commands.ts';
import type { RecordEvent } from '../../model/decider.ts';
import { headsTopic, recordsTopic, reservedKey } from '../../model/events.ts';
import { sealedEncoding } from '../../model/sealed-payload.ts';
import { recordOwnersGroup, type OwnerServices } from '../deps.ts';
import type { KeptPayload, PendingEncryption } from '../encryption.ts';
import type { StateStore, Progress } from '../state/state-store.ts';
import { type StreamState, partitionHead, toHead, type HeadMeta } from '../state/stream-state.ts';
import {
  ChangeIds,
  changeTypes,
  encodeContext,
  type ChangeEncoder,
  type ChangePayload,
  type EncodedContext,
} from './change-encoder.ts';

/** The reply to a command. */
export type Answer =
  | {
      readonly outcome: 'done';
      readonly body?: unknown;
      /** Where the body can be computed again, when it is too long for the head. */
      readonly deletedKeys?: DeletedKeysArgs;
    }
  | { readonly outcome: 'refused'; readonly error: GatewayError };

export interface PendingReply {
  readonly commandId: string;
  readonly node: string;
  readonly answer: Answer;
}

/** The writer of a stream's changes, and the names that the changes carry. */
export type ChangeOrigin = Pick<
  RecordCommandValue,
  'integration' | 'connection_id' | 'actor' | 'run_id' | 'sync_name'
>;

export const noPayload: KeptPayload = { bytes: null, encoding: 'none' };

/**
 * The decisions between two transactions of the log. They go into the state store at once, so that the next decision
 * reads them; the store commits them only once the log has the transaction.
 */
export class Round {
  /** Changes with a secret payload have no value yet: `Changes.finish`. */
  readonly changes: Change[] = [];
  readonly deadLetters: Message[] = [];
  readonly replies: PendingReply[] = [];
  readonly touched = new Set<StreamState>();
}

interface Change extends Message {
  value: Uint8Array | null;
}

interface RecordHeaders extends Record<string, string> {
  'svc-seq': string;
}

/** The decisions of one partition: numbers, times and bytes of its changes. */
export class Changes {
  readonly store: StateStore;
  readonly epoch: number;
  /** The last modification time of the partition; times never go back within it. */
  lastModifiedAt: Micros;
  round = new Round();
  readonly #clock: Clock;
  readonly #encoder: ChangeEncoder;
  readonly #pendingEncryption: PendingEncryption;
  #now: Micros = 0;
  #begun: { readonly stream: StreamState; readonly context: EncodedContext } | null = null;
  #ids = new ChangeIds('', '');
  #source = '';
  /** Of the command, if its spans are recorded. */
  #trace: string | null = null;
  readonly #idsOf = new WeakMap<StreamState, { generation: string; ids: ChangeIds }>();

  constructor(deps: {
    readonly store: StateStore;
    readonly clock: Clock;
    readonly encoder: ChangeEncoder;
    readonly pendingEncryption: PendingEncryption;
    readonly epoch: number;
    readonly lastModifiedAt: Micros;
  }) {
    this.store = deps.store;
    this.epoch = deps.epoch;
    this.lastModifiedAt = deps.lastModifiedAt;
    this.#clock = deps.clock;
    this.#encoder = deps.encoder;
    this.#pendingEncryption = deps.pendingEncryption;
  }

  /** For the changes of the next command. */
  begin(stream: StreamState, command: ChangeOrigin, passId: string | null = null): void {
    this.#now = this.#clock.nowMicros();
    this.#trace = sampledTrace();
    this.#ids = this.#changeIds(stream);
    const path = ['environments', stream.environmentUid, 'integrations', command.integration];
    this.#source = `/${joinKey(...path, 'connections', command.connection_id)}`;
    const context = encodeContext({
      environmentUid: stream.environmentUid,
      integration: command.integration,
      connectionId: command.connection_id,
      connectionUid: stream.connectionUid,
      model: stream.model,
      variant: stream.variant,
      actor: command.actor,
      runId: command.run_id,
      syncName: command.sync_name,
      generation: stream.generation,
      epoch: this.epoch,
      passId,
    });
    this.#begun = { stream, context };
  }

  /** Time of the next modification: strictly later than the last in the partition. */
  get nextAt(): Micros {
    return Math.max(this.#now, this.lastModifiedAt + 1);
  }

  get now(): Micros {
    return this.#now;
  }

  /** Records the outcome for a record: a change on the topic, and the state after it. */
  add(id: string, event: RecordEvent, payload: KeptPayload): void {
    if (this.#begun === null) throw new Error('No command was begun.');
    const { stream, context } = this.#begun;
    const { action, after, previousPosition } = event;
    const seq = ++stream.seq;
    if (after.position === seq) this.lastModifiedAt = after.modifiedAt;
    this.#apply(stream.no, id, event, payload);
    const eventId = this.#ids.of(seq);
    const headers: RecordHeaders = {
      ce_specversion: '1.0',
      ce_id: eventId,
      ce_type: changeTypes[action],
      ce_source: this.#source,
      'content-type': 'application/avro',
      'svc-stream': stream.key,
      'svc-seq': String(seq),
    };
    if (this.#trace !== null) headers[traceHeader] = this.#trace;
    const key = `${stream.key}/${encoded(id)}`;
    const fields = {
      eventId,
      occurredAt: after.position === seq ? after.modifiedAt : this.#now,
      recordId: id,
      action,
      seq,
      version: after.version,
      position: after.position,
      previousPosition,
      hash: after.hash,
      previousHash: event.previousHash,
      firstSeenAt: after.firstSeenAt,
      modifiedAt: after.modifiedAt,
      deletedAt: after.deletedAt,
      prunedAt: after.prunedAt,
    };
    const change: Change = { key, value: null, headers };
    this.#encodeWith(payload, { stream, id }, (logged) => {
      change.value = this.#encoder.encode(context, fields, logged);
    });
    this.round.changes.push(change);
    if (action === 'purged') this.#tombstone(key, stream.key, headers['svc-seq']);
  }

  /** Whether payloads of the current round are already being sealed. */
  get isSealing(): boolean {
    return this.#pendingEncryption.isUnderWay;
  }

  /** Resolves when all changes of the round have their values. */
  finish(): Promise<void> {
    return this.#pendingEncryption.finish();
  }

  /** With the payload in the form of the event: at once, or when it is sealed. */
  #encodeWith(
    { bytes, encoding }: KeptPayload,
    { stream, id }: { readonly stream: StreamState; readonly id: string },
    encode: (logged: ChangePayload) => void,
  ): void {
    if (bytes === null) encode({ bytes, encoding: 'none' });
    else if (encoding !== 'secret') encode({ bytes, encoding });
    else {
      this.#pendingEncryption.add(stream, id, bytes, (sealed) => {
        encode({ bytes: sealed, encoding: sealedEncoding });
      });
    }
  }

  #apply(no: number, id: string, event: RecordEvent, payload: KeptPayload): void {
    const { action, after, previousPosition } = event;
    const { store } = this;
    if (action === 'purged') {
      store.remove(no, id);
      store.removePayload(no, after.position);
      return;
    }
    store.put(no, id, after);
    store.putPayload(no, after.position, id, payload);
    if (previousPosition !== null) store.removePayload(no, previousPosition);
  }

  #tombstone(key: string, stream: string, seq: string): void {
    this.round.changes.push({
      key,
      value: null,
      headers: { 'svc-stream': stream, 'svc-seq': seq },
    });
  }

  #changeIds(stream: StreamState): ChangeIds {
    const existing = this.#idsOf.get(stream);
    if (existing?.generation === stream.generation) return existing.ids;
    const { generation } = stream;
    const ids = new ChangeIds(stream.key, generation);
    this.#idsOf.set(stream, { generation, ids });
    return ids;
  }
}

const plainId = /^[\w.!~*'()-]*$/;
const encoded = (id: string): string => (plainId.test(id) ? id : encodeURIComponent(id));

/** A round as one transaction of the log. */
export interface Transaction {
  readonly batch: readonly PartitionMessages[];
  readonly positions: GroupPositions;
  /** Positions of the log after it. */
  reach(before: ReachedProgress, places: readonly Position[]): ReachedProgress;
  readonly reaches: ReachedProgress;
}

type ReachedProgress = Omit<Progress, 'atEndAt'>;

/** A round, the heads of the streams that it touched, and its last command. */
export interface DecidedRound {
  readonly round: Round;
  readonly heads: readonly Message[];
  readonly meta: HeadMeta;
}

const avroHeaders = { 'content-type': 'application/avro' };

export function transactionOf(
  services: OwnerServices,
  partition: number,
  { round, heads, meta }: DecidedRound,
): Omit<Transaction, 'reaches'> {
  const batch: PartitionMessages[] = [];
  const put = (topic: string, target: number, messages: readonly Message[]): void => {
    if (messages.length > 0) batch.push({ topic, partition: target, messages });
  };
  put(recordsTopic, partition, round.changes);
  put(headsTopic, partition, heads);
  batch.push(...repliesOf(services, partition, round));
  for (const deadLetter of round.deadLetters) {
    put(deadLettersTopic, partitionOf(deadLetter.key, services.deadLetterPartitions), [deadLetter]);
  }
  const next = { topic: recordCommandsTopic, partition, offset: meta.command + 1 };
  return {
    batch,
    positions: { group: recordOwnersGroup, positions: [next] },
    reach(before, places) {
      const changes = endOf(places, recordsTopic, round.changes.length) ?? before.changes;
      const headsEnd = endOf(places, headsTopic, heads.length) ?? before.heads;
      const { command, lastModifiedAt, epoch } = meta;
      const epochs = { changesEpoch: epoch, headsEpoch: epoch };
      return { command, lastModifiedAt, ...epochs, changes, heads: headsEnd };
    },
  };
}

/** The heads go into the state store in the same form, so that a restored one is equal. */
export function headsOf(
  { headCodec }: OwnerServices,
  round: Round,
  meta: HeadMeta,
  store: StateStore,
): Message[] {
  const heads: Message[] = [];
  for (const stream of round.touched) {
    const value = headCodec.encode(toHead(stream, meta));
    store.putHead(stream.no, value);
    heads.push({ key: stream.key, value, headers: avroHeaders });
  }
  if (heads.length > 0) return heads;
  // A command was decided without a stream: it was unreadable.
  return [{ key: reservedKey, value: headCodec.encode(partitionHead(meta)), headers: avroHeaders }];
}

function repliesOf(services: OwnerServices, partition: number, round: Round): PartitionMessages[] {
  return round.replies.map(({ commandId, node, answer }) => {
    const position = { partition, offset: 0 };
    const reply = replyMessage(services.replyCodec, services.replyPartitions, {
      commandId,
      node,
      place: position,
      answer: answer.outcome === 'done' ? { outcome: 'done', body: answer.body } : answer,
    });
    return { topic: reply.topic, partition: reply.partition, messages: [reply.message] };
  });
}

function endOf(places: readonly Position[], topic: string, count: number): number | undefined {
  const place = places.find((position) => position.topic === topic);
  return place === undefined ? undefined : place.offset + count;
}
