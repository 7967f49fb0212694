import type { ConnectionUid, EnvironmentUid } from '#kernel/ids.ts';
import { joinKey } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { PayloadEncoding, RecordAction, RecordChange } from '#modules/records/model/events.ts';
import type { StreamId } from '#modules/records/model/stream.ts';
import { streamKey } from '#modules/records/model/stream.ts';
import type { Message } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';

interface Held {
  position: number;
  firstSeenAt: number;
  modifiedAt: number;
  deletedAt: number | null;
  prunedAt: number | null;
  payload: string;
  version: number;
}

export const startMicros = Date.UTC(2026, 1, 1, 8) * 1000;

interface SealedByModel {
  readonly payload: Uint8Array;
  readonly keyId: string;
  readonly encoding: PayloadEncoding;
}

/** A stream as its owner would write it: the judge of what readers must see. */
export class RecordModel {
  readonly stream: StreamId;
  readonly records = new Map<string, Held>();
  generation = 'generation-1';
  epoch = 1;
  seq = 0;
  at = startMicros;
  /** What seals payloads, when they are sealed. */
  seal: ((id: string, text: string) => SealedByModel) | null = null;

  constructor(model = 'Contact', uid = 'connection-uid') {
    this.stream = {
      environmentUid: 'environment-uid' as EnvironmentUid,
      connectionUid: uid as ConnectionUid,
      model,
      variant: 'base',
    };
  }

  partition(partitions: number): number {
    return partitionOf(streamKey(this.stream), partitions);
  }

  save(id: string, fields: Record<string, unknown> = {}): RecordChange {
    const payload = JSON.stringify({ id, ...fields });
    const before = this.records.get(id);
    const isNew = before === undefined || before.deletedAt !== null;
    const at = this.#tick();
    return this.#moved(id, isNew ? 'added' : 'updated', {
      firstSeenAt: isNew ? at : before.firstSeenAt,
      deletedAt: null,
      prunedAt: null,
      payload,
    });
  }

  delete(id: string): RecordChange {
    const held = this.#held(id);
    const at = this.#tick();
    return this.#moved(id, 'deleted', { ...held, deletedAt: at });
  }

  prune(id: string): RecordChange {
    const held = this.#held(id);
    held.prunedAt = this.#tick();
    return this.#kept(id, 'pruned');
  }

  restore(id: string): RecordChange {
    this.#tick();
    this.#held(id).prunedAt = null;
    return this.#kept(id, 'restored');
  }

  purge(id: string): RecordChange {
    this.#tick();
    const change = this.#kept(id, 'purged');
    this.records.delete(id);
    return change;
  }

  /** Live and deleted records in the order of pages. */
  ordered(): { id: string; position: number; held: Held }[] {
    return [...this.records]
      .map(([id, held]) => ({ id, position: held.position, held }))
      .sort((a, b) => a.position - b.position);
  }

  key(id: string): string {
    const { environmentUid, connectionUid, model, variant } = this.stream;
    return joinKey(environmentUid, connectionUid, model, variant, id);
  }

  message(codec: Pick<Codec<RecordChange>, 'encode'>, change: RecordChange): Message {
    const headers = { 'svc-seq': String(change.stream_seq), 'svc-stream': streamKey(this.stream) };
    return { key: this.key(change.record_id), value: codec.encode(change), headers };
  }

  tombstone(id: string): Message {
    return { key: this.key(id), value: null, headers: {} };
  }

  #held(id: string): Held {
    const held = this.records.get(id);
    if (held === undefined) throw new Error(`the model has no record ${id}`);
    return held;
  }

  #tick(): number {
    this.seq++;
    this.at += 1 + (this.seq % 7) * 1000;
    return this.at;
  }

  #moved(
    id: string,
    action: RecordAction,
    after: Omit<Held, 'position' | 'modifiedAt' | 'version'>,
  ): RecordChange {
    const before = this.records.get(id);
    const version = (before?.version ?? 0) + 1;
    this.records.set(id, { ...after, position: this.seq, modifiedAt: this.at, version });
    return this.#change(id, action, before?.position ?? null);
  }

  #kept(id: string, action: RecordAction): RecordChange {
    this.#held(id).version++;
    return this.#change(id, action, null);
  }

  #change(id: string, action: RecordAction, previous: number | null): RecordChange {
    const held = this.#held(id);
    const isEmpty = held.prunedAt !== null || action === 'purged';
    const sealed = isEmpty || this.seal === null ? null : this.seal(id, held.payload);
    const plain = isEmpty ? null : Buffer.from(held.payload);
    const encoding: PayloadEncoding = sealed?.encoding ?? (plain === null ? 'none' : 'json');
    return {
      event_id: `event-${this.seq}`,
      type: `svc.record.${action}`,
      occurred_at: this.at,
      environment_id: this.stream.environmentUid,
      integration: 'crm',
      connection_id: 'customer-1',
      actor: 'system',
      run_id: null,
      connection_uid: this.stream.connectionUid,
      model: this.stream.model,
      variant: this.stream.variant,
      record_id: id,
      action,
      stream_seq: this.seq,
      stream_generation: this.generation,
      owner_epoch: this.epoch,
      version: held.version,
      position: held.position,
      previous_position: previous,
      payload: sealed?.payload ?? plain,
      payload_encoding: encoding,
      key_id: sealed?.keyId ?? null,
      payload_hash: '00',
      previous_hash: null,
      changed_fields: null,
      first_seen_at: held.firstSeenAt,
      last_modified_at: held.modifiedAt,
      deleted_at: held.deletedAt,
      pruned_at: held.prunedAt,
      sync_name: null,
      delete_pass_id: null,
    };
  }
}
