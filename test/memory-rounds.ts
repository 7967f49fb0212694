/**
 * `npm run test:memory [-- rounds] [--url URL --key KEY --other-key KEY [--pid PID]]`: actions of one environment take
 * all the memory they can, while six sleeping actions and two syncs of another environment run; prints how each ended,
 * and the memory of the sandbox processes before and after. On a gateway that it starts, or on one that was started
 * already, with keys of full access to two of its environments.
 */
import { parseArgs } from 'node:util';
import { memoryReturned, memoryRounds, sandboxMb } from '#test/support/judges/memory-rounds.ts';
import { accessTo, startGateway } from '#test/support/processes/gateway.ts';

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string' },
    key: { type: 'string', default: '' },
    'other-key': { type: 'string', default: '' },
    pid: { type: 'string' },
  },
});
const rounds = Number(positionals[0] ?? 20);
await using stack = new AsyncDisposableStack();
const started =
  options.url === undefined
    ? stack.use(await startGateway({ env: { SVC_RATE_LIMIT_PER_MINUTE: '0' } }))
    : null;
const gateway =
  started ??
  accessTo(options.url ?? '', {
    key: options.key,
    prodKey: options['other-key'],
    accountKey: options.key,
  });
const pid = started?.process.pid ?? (options.pid === undefined ? undefined : Number(options.pid));

const begun = performance.now();
await memoryRounds(gateway, { rounds: 0 });
const beforeMb = pid === undefined ? 0 : sandboxMb(pid);
const { beside, exhausted } = await memoryRounds(gateway, {
  rounds,
  onRound: (text) => console.log(text),
});
console.table(exhausted);
console.log(`beside them: ${JSON.stringify(beside)}`);
if (pid !== undefined) {
  const afterMb = await memoryReturned(pid, beforeMb);
  console.log(
    `sandbox processes: ${Math.round(beforeMb)} MB before, ${Math.round(afterMb)} MB after`,
  );
}
console.log(`${Math.round((performance.now() - begun) / 1000)} s`);
const isEveryoneWell = Object.keys(beside).every((end) => end === '200' || end === 'succeeded');
process.exitCode = isEveryoneWell ? 0 : 1;
