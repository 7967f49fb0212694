/**
 * Saves beside backups: `backup.ts [pairs] [records] [plain|sealed]`. A pair saves the records twice, alone and while one
 * backup after the other is taken of the gateway, by the command of docs/backups.md; which comes first alternates. The
 * folder has a backup before. Saves of less than some seconds measure the start of a process rather than a backup.
 */
import { join } from 'node:path';
import { transfer } from '#test/support/processes/transfer.ts';
import { percentile, report, round, withFolder } from './measure.ts';
import { startNode } from './node.ts';
import { contact } from './payloads.ts';
import { batchesOf, rates, type Write } from './save-rates.ts';

const nice = ['nice', '-n', '19'];
const [pairs = '8', records = '250000', mode = 'plain'] = process.argv.slice(2);

await withFolder(async (folder) => {
  const dataDir = join(folder, 'data');
  const files = join(folder, 'backups');
  await using node = await startNode(dataDir, mode === 'sealed' ? 'sealed' : 'plain');
  const { writer } = node.running.services.records;
  const write: Write = (stream, origin, batch) => writer.save(stream, origin, batch);
  const batches = batchesOf((index) => contact(index), Number(records));
  const save = async (): Promise<number> =>
    (await rates(node, [await node.newStream(), await node.newStream()], batches, write)).decided;
  await save();
  await transfer('backup', files, dataDir);
  let backups = 0;
  let bytes = 0;
  const saveBeside = async (): Promise<number> => {
    let isDone = false;
    const backingUp = (async () => {
      while (!isDone) {
        bytes += (await transfer('backup', files, dataDir, {}, nice)).bytes;
        backups += 1;
      }
    })();
    const rate = await save();
    isDone = true;
    await backingUp;
    return rate;
  };
  const alone: number[] = [];
  const beside: number[] = [];
  for (let pair = 0; pair < Number(pairs); pair += 1) {
    if (pair % 2 === 0) alone.push(await save());
    beside.push(await saveBeside());
    if (pair % 2 === 1) alone.push(await save());
  }
  const slower = alone.map((rate, pair) => 1 - (beside[pair] ?? 0) / rate);
  report({
    alone_decided_per_s: percentile(alone, 50),
    beside_decided_per_s: percentile(beside, 50),
    slower_percent: round(100 * percentile(slower, 50), 1),
    backups,
    backed_up_mb: round(bytes / 1024 ** 2, 1),
  });
});
