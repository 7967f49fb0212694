/**
 * A node that saves until it is killed, or that tells what it holds. Run by the crash tests:
 * `crash-child.ts write <data folder> <seed> <round> <next operation of each model …>` and
 * `crash-child.ts tell <data folder> <seed> <round>`, which writes a file beside the data.
 */
import { writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { compose, type Running } from '../../src/app/compose.ts';
import { loadConfig } from '../../src/app/config.ts';
import type {
  ConnectionId,
  ConnectionUid,
  EnvironmentUid,
  IntegrationKey,
} from '../../src/kernel/ids.ts';
import { partitionOf } from '../../src/kernel/partition.ts';
import type { RecordChange } from '../../src/modules/records/events.ts';
import { streamKey, type Stream } from '../../src/modules/records/stream.ts';
import { models, operation, toldFile } from './crash-model.ts';
import { seeded } from './random.ts';

const tell = (line: unknown) => writeSync(1, `${JSON.stringify(line)}\n`);

const environmentUid = '00000000-0000-4000-8000-000000000001' as EnvironmentUid;
const connectionUid = '00000000-0000-4000-8000-000000000002' as ConnectionUid;
const streamOf = (model: string): Stream => ({
  environmentUid,
  connectionUid,
  integration: 'crm' as IntegrationKey,
  connectionId: 'crash' as ConnectionId,
  model,
  variant: 'base',
});
const originOf = (runId: string, attempt: number) => ({
  runId,
  attempt,
  syncName: 'crash',
  actor: `run:${runId}`,
});

async function write(
  node: Running,
  seed: number,
  round: number,
  next: readonly number[],
): Promise<void> {
  const { writer } = node.services.records;
  await node.services.vault.create(connectionUid);
  const loops = models.map(async (model, at) => {
    for (let index = next[at] ?? 0; ; index += 1) {
      const { kind, records } = operation(seeded(seed + index * models.length + at));
      await writer[kind](streamOf(model), originOf(`write-${model}`, round), records);
      tell({ acknowledged: model, index });
    }
  });
  await Promise.all(loops);
}

/** As the attempt that wrote, so that what was refused to it is told as well. */
async function read(node: Running, model: string, round: number) {
  const { reader, writer } = node.services.records;
  const stream = streamOf(model);
  const barrier = await writer.barrier(stream, originOf(`write-${model}`, round));
  await reader.published(barrier.partition, barrier.offset, AbortSignal.timeout(60_000));
  const records: unknown[] = [];
  for (
    let cursor: string | null = null, isFirst = true;
    isFirst || cursor !== null;
    isFirst = false
  ) {
    const page = await reader.page({
      stream,
      cursor,
      modifiedAfter: null,
      actions: null,
      ids: null,
      limit: 37,
    });
    records.push(
      ...(JSON.parse(Buffer.from(page.body).toString()) as { records: unknown[] }).records,
    );
    cursor = page.nextCursor;
  }
  return { model, records, changes: await changesOf(node, stream), failures: barrier.failures };
}

async function changesOf(node: Running, stream: Stream) {
  const topic = 'svc.records.v1';
  const codec = await node.schemas.codec<RecordChange>(topic);
  const partition = partitionOf(streamKey(stream), await node.log.partitions(topic));
  const changes: unknown[] = [];
  for await (const batch of node.log.read({ topic, partition, offset: 0 })) {
    for (const message of batch.messages) {
      if (message.value === null || message.headers['svc-stream'] !== streamKey(stream)) continue;
      const { stream_seq, record_id, action, payload_hash, event_id } = codec.decode(message.value);
      changes.push({
        seq: stream_seq,
        id: record_id,
        action,
        hash: payload_hash,
        eventId: event_id,
      });
    }
  }
  return changes;
}

const [mode, folder = '', seed = '0', round = '1', ...next] = process.argv.slice(2);
const config = loadConfig({
  ...process.env,
  SVC_DATA_DIR: folder,
  SVC_ROLES: 'owner,projector',
  SVC_PARTITIONS: '2',
  SVC_LOG_LEVEL: 'error',
});
const node = await compose(config);
tell({ ready: true });
if (mode === 'tell') {
  const told = await Promise.all(models.map((model) => read(node, model, Number(round))));
  writeFileSync(join(folder, toldFile), JSON.stringify(told));
  await node[Symbol.asyncDispose]();
} else {
  await write(node, Number(seed), Number(round), next.map(Number));
}
