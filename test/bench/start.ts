/**
 * How long the gateway takes to its line `ready`, and what it needs at rest: `start.ts [starts]`. Each first start has a
 * data folder of its own, in which a second follows; then one stays for half a minute without a request.
 * Compare two checkouts in turns; `memory.ts` has what it needs under load.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startGatewayProcess, type GatewayProcess } from './gateway-process.ts';
import { percentile, report, round, withFolder } from './measure.ts';
import { memoryOf, restingShare, restMs } from './process-use.ts';

const [starts = '5'] = process.argv.slice(2);

await withFolder(async (folder) => {
  const kinds = { first: [] as GatewayProcess[], later: [] as GatewayProcess[] };
  for (let at = 0; at < Number(starts); at++) {
    const dataDir = join(folder, String(at));
    mkdirSync(dataDir);
    for (const kind of ['first', 'later'] as const) {
      const one = await startGatewayProcess(dataDir);
      kinds[kind].push(one);
      await one[Symbol.asyncDispose]();
    }
  }
  await using resting = await startGatewayProcess(join(folder, '0'));
  // What a start leaves to be done.
  await setTimeout(restMs / 2);
  const share = await restingShare('rest', resting.pid);
  const memory = memoryOf('rest', resting.pid);
  const median = (all: readonly number[]) => round(percentile(all, 50), 0);
  const of = (name: string, all: readonly GatewayProcess[]) => ({
    [`${name}_start_ms`]: median(all.map(({ ms }) => ms)),
    [`${name}_start_cpu_ms`]: median(all.map(({ cpuMs }) => cpuMs)),
  });
  report({
    ...of('first', kinds.first),
    ...of('later', kinds.later),
    ...memory,
    ...share,
  });
});
