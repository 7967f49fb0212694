/** Saves, re-saves, merges and delete passes: `saves.ts <plain|sealed> [records]`. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Stream } from '#modules/records/model/stream.ts';
import type { BarrierAnswer } from '#modules/records/write/writer.ts';
import { cleanLog } from '#test/support/processes/whole-node.ts';
import { report, round, withFolder, type Figures } from './measure.ts';
import { decided, newOrigin, startNode, type BenchNode } from './node.ts';
import { contact } from './payloads.ts';
import { batchesOf, batchSize, named, rates, type Batches, type Write } from './save-rates.ts';

const [mode = 'plain', count = '200000'] = process.argv.slice(2);
const total = Number(count);
/** Saved first: code that has not run yet costs a saver half as much again, and a gateway runs for days. */
const warmUp = total / 4;

async function passOverMissing(node: BenchNode, stream: Stream, all: Batches): Promise<Figures> {
  const { writer } = node.running.services.records;
  const origin = newOrigin();
  await writer.passStart(stream, origin);
  for (const batch of all) await writer.save(stream, origin, batch.slice(batchSize / 100));
  await decided(node, stream, origin);
  const started = performance.now();
  const { deletedKeys } = await writer.passEnd(stream, origin);
  const answer: BarrierAnswer = await decided(node, stream, origin);
  if (answer.counts.deleted !== total / 100 || deletedKeys.length !== total / 100) {
    throw new Error(`the pass deleted ${answer.counts.deleted} of ${total / 100}`);
  }
  return { pass_end_s: round((performance.now() - started) / 1000, 3) };
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? bytesBelow(path) : statSync(path).size);
  }, 0);
}

/** Compacts all stores, with the decided commands deleted. */
async function compact({ running }: BenchNode): Promise<Figures> {
  const { log, tables } = running;
  for (const topic of ['svc.internal.record-commands.v1', 'svc.internal.commands.v1']) {
    for (let partition = 0; partition < (await log.partitions(topic)); partition += 1) {
      await log.deleteBefore({ topic, partition, offset: await log.endOffset(topic, partition) });
    }
  }
  await cleanLog(running, Date.now() + 30 * 86_400_000);
  for (const table of ['records', 'records_by_id', 'record_history', 'stream_segments']) {
    const cleanup = table.startsWith('records') ? ' CLEANUP' : '';
    await tables.command(`OPTIMIZE TABLE ${table} FINAL${cleanup}`, { queryClass: 'cleanup' });
  }
  // Replaced parts stay on the disk for some minutes: what counts is what lasts.
  const [row] = await tables.queryRows<{ bytes: string }>(
    'SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = currentDatabase()',
  );
  return { clickhouse: Number(row?.bytes) };
}

await withFolder(async (folder) => {
  const figures: Record<string, number> = {};
  const fresh = batchesOf((index) => contact(index), total);
  let disk: Figures = {};
  {
    await using node = await startNode(folder, mode === 'sealed' ? 'sealed' : 'plain');
    const { writer } = node.running.services.records;
    const save: Write = (stream, origin, batch) => writer.save(stream, origin, batch);
    await rates(node, [await node.newStream()], fresh.slice(0, warmUp / batchSize), save);
    const one = await node.newStream();
    Object.assign(figures, named('save_1', await rates(node, [one], fresh, save)));
    const four = await Promise.all([1, 2, 3, 4].map(() => node.newStream()));
    Object.assign(figures, named('save_4', await rates(node, four, fresh, save)));
    Object.assign(figures, named('unchanged', await rates(node, [one], fresh, save)));
    Object.assign(figures, await passOverMissing(node, one, fresh));
    const patches = batchesOf(
      (index) => ({ id: String(contact(index)['id']), score: index, nested: { seen: index } }),
      total / 4,
    );
    const merge: Write = (stream, origin, batch) => writer.update(stream, origin, batch);
    Object.assign(figures, named('merge', await rates(node, [one], patches, merge)));
    disk = await compact(node);
  }
  const each = (bytes: number) => Math.round(bytes / (2 * total + warmUp));
  const log = each(bytesBelow(join(folder, 'log')));
  const state = each(bytesBelow(join(folder, 'state')));
  const clickhouse = each(disk['clickhouse'] ?? 0);
  Object.assign(figures, {
    disk_log_b: log,
    disk_state_b: state,
    disk_clickhouse_b: clickhouse,
    disk_all_b: log + state + clickhouse,
  });
  report(figures);
});
