import assert from 'node:assert/strict';
import { type RecordChange, recordsTopic } from '#modules/records/model/events.ts';
import { openLogOf } from '../processes/deployment.ts';
import { readAll } from '../worlds/log.ts';

/** What the log holds of one stream, in its order. */
export interface AuditedStream {
  readonly connectionId: string;
  readonly model: string;
  readonly changes: readonly RecordChange[];
}

/**
 * Every stream of a gateway's log, as a reader sees it that ignores lower epochs. Each has one generation, its
 * `stream_seq` has no hole and no event is there twice.
 */
export async function auditStreams(dataDir: string): Promise<AuditedStream[]> {
  await using opened = await openLogOf(dataDir);
  const { log, schemas } = opened;
  const codec = await schemas.codec<RecordChange>(recordsTopic);
  const streams = new Map<string, RecordChange[]>();
  for (let partition = 0; partition < (await log.partitions(recordsTopic)); partition += 1) {
    let epoch = 0;
    for (const { value } of await readAll(log, recordsTopic, partition)) {
      if (value === null) continue;
      const change = codec.decode(value);
      if (change.owner_epoch < epoch) continue;
      epoch = change.owner_epoch;
      const key = [change.connection_uid, change.model, change.variant].join('/');
      streams.set(key, [...(streams.get(key) ?? []), change]);
    }
  }
  return [...streams.values()].map(audited);
}

function audited(changes: readonly RecordChange[]): AuditedStream {
  const { connection_id, model } = changes[0]!;
  const where = `${connection_id}/${model}`;
  const seqs = changes.map((change) => change.stream_seq);
  assert.deepEqual(
    seqs,
    seqs.map((_, at) => at + 1),
    `${where}: stream_seq has a hole or a repeat`,
  );
  assert.equal(new Set(changes.map((change) => change.event_id)).size, changes.length, where);
  assert.equal(new Set(changes.map((change) => change.stream_generation)).size, 1, where);
  return { connectionId: connection_id ?? '', model, changes };
}
