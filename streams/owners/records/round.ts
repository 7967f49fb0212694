import { joinKey } from '../../../src/kernel/ids.ts';
import { GatewayError } from '../../../src/kernel/errors.ts';
import type { Clock, Micros } from '../../../src/kernel/time.ts';
import type { DeletedKeysArgs, RecordCommandValue } from '../../../src/modules/records/commands.ts';
import type { RecordEvent } from '../../../src/modules/records/decider.ts';
import type { PayloadEncoding } from '../../../src/modules/records/events.ts';
import { sealedEncoding, type PayloadSealer } from '../../../src/modules/records/sealed-payload.ts';
import type { Message } from '../../../src/ports/event-log.ts';
import { ChangeEncoder, ChangeIds, changeTypes } from './change-encoder.ts';
import type { KeptPayload, StateStore } from './state-store.ts';
import type { StreamState } from './stream-state.ts';

/** What a command is answered. */
export type Answer =
  | {
      readonly outcome: 'done';
      readonly body?: unknown;
      /** Where the body can be looked up again, when it is too long to note. */
      readonly deletedKeys?: DeletedKeysArgs;
    }
  | { readonly outcome: 'refused'; readonly error: GatewayError };

export interface PendingReply {
  readonly commandId: string;
  readonly node: string;
  readonly answer: Answer;
}

/** Who changes a stream, and under which names its changes go. */
export type ChangeOrigin = Pick<
  RecordCommandValue,
  'integration' | 'connection_id' | 'actor' | 'run_id' | 'sync_name'
>;

export const noPayload: KeptPayload = { bytes: null, encoding: 'none' };

/**
 * What is decided between two transactions of the log. Decisions go into the state store as they are made,
 * so that the next one sees them; the store keeps them only once the log has the transaction.
 */
export class Round {
  readonly changes: Message[] = [];
  readonly deadLetters: Message[] = [];
  readonly replies: PendingReply[] = [];
  readonly touched = new Set<StreamState>();
}

/** The decisions of one partition: numbers, times and bytes of its changes. */
export class Changes {
  readonly store: StateStore;
  readonly epoch: number;
  /** The last modification time given in the partition; times never go back within it. */
  lastModifiedAt: Micros;
  round = new Round();
  readonly #clock: Clock;
  readonly #encoder: ChangeEncoder;
  readonly #sealer: PayloadSealer;
  #now: Micros = 0;
  #stream: StreamState | null = null;
  #ids = new ChangeIds('', '');
  #source = '';
  readonly #idsOf = new WeakMap<StreamState, { generation: string; ids: ChangeIds }>();

  constructor(deps: {
    readonly store: StateStore;
    readonly clock: Clock;
    readonly encoder: ChangeEncoder;
    readonly sealer: PayloadSealer;
    readonly epoch: number;
    readonly lastModifiedAt: Micros;
  }) {
    this.store = deps.store;
    this.epoch = deps.epoch;
    this.lastModifiedAt = deps.lastModifiedAt;
    this.#clock = deps.clock;
    this.#encoder = deps.encoder;
    this.#sealer = deps.sealer;
  }

  /** For the changes of the command that follow. */
  begin(stream: StreamState, command: ChangeOrigin, passId: string | null = null): void {
    this.#now = this.#clock.nowMicros();
    this.#stream = stream;
    this.#ids = this.#changeIds(stream);
    const place = ['environments', stream.environmentUid, 'integrations', command.integration];
    this.#source = `/${joinKey(...place, 'connections', command.connection_id)}`;
    this.#encoder.begin({
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
  }

  /** Time of the next modification: strictly later than the last in the partition. */
  get nextAt(): Micros {
    return Math.max(this.#now, this.lastModifiedAt + 1);
  }

  get now(): Micros {
    return this.#now;
  }

  /** Records what became of a record: a change on the topic, and the state after it. */
  add(id: string, event: RecordEvent, payload: KeptPayload): void {
    const stream = this.#stream;
    if (stream === null) throw new Error('No command was begun.');
    const { action, after, previousPosition } = event;
    const seq = ++stream.seq;
    if (after.position === seq) this.lastModifiedAt = after.modifiedAt;
    this.#apply(stream.no, id, event, payload);
    const logged = this.#logged(stream, id, payload);
    const eventId = this.#ids.of(seq);
    const headers = {
      ce_specversion: '1.0',
      ce_id: eventId,
      ce_type: changeTypes[action],
      ce_source: this.#source,
      'content-type': 'application/avro',
      'svc-stream': stream.key,
      'svc-seq': String(seq),
    };
    const key = `${stream.key}/${encoded(id)}`;
    const value = this.#encoder.encode({
      eventId,
      occurredAt: after.position === seq ? after.modifiedAt : this.#now,
      recordId: id,
      action,
      seq,
      version: after.version,
      position: after.position,
      previousPosition,
      ...logged,
      hash: after.hash,
      previousHash: event.previousHash,
      firstSeenAt: after.firstSeenAt,
      modifiedAt: after.modifiedAt,
      deletedAt: after.deletedAt,
      prunedAt: after.prunedAt,
    });
    this.round.changes.push({ key, value, headers });
    if (action === 'purged') this.#tombstone(key, stream.key, headers['svc-seq']);
  }

  /** A payload as the event has it. */
  #logged(
    stream: StreamState,
    id: string,
    { bytes, encoding }: KeptPayload,
  ): { readonly payload: Uint8Array | null; readonly encoding: PayloadEncoding } {
    if (bytes === null) return { payload: null, encoding: 'none' };
    if (encoding !== 'secret') return { payload: bytes, encoding };
    return { payload: this.#sealer.seal(stream, id, bytes), encoding: sealedEncoding };
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
    const known = this.#idsOf.get(stream);
    if (known?.generation === stream.generation) return known.ids;
    const { generation } = stream;
    const ids = new ChangeIds(stream.key, generation);
    this.#idsOf.set(stream, { generation, ids });
    return ids;
  }
}

const plainId = /^[\w.!~*'()-]*$/;
const encoded = (id: string): string => (plainId.test(id) ? id : encodeURIComponent(id));
