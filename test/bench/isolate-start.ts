/**
 * Started by `functions.ts` without Node's own snapshot, as the processes of the sandbox are: what a start costs where the
 * realms are, from taking one to the first instruction of its function, without the way between the processes. Sends
 * its figures.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { GuestRun } from '#adapters/sandbox/guest-run.ts';
import { openIsolate, takeSnapshot } from '#adapters/sandbox/isolate.ts';
import { guestRuntime } from '#adapters/sandbox/sandbox.ts';
import { limits } from '#kernel/limits.ts';
import { bundleOf, guestOrder } from '#test/unit/src/adapters/sandbox/guest.ts';
import { p50p99 } from './measure.ts';

const runs = Number(process.argv[2]);
const pauseMs = 10;

const snapshot = takeSnapshot(await guestRuntime());
const given = guestOrder(bundleOf('await svc.getCheckpoint();'));
const opens: number[] = [];
const starts: number[] = [];
for (let run = 0; run < runs; run += 1) {
  const begun = performance.now();
  const isolate = openIsolate(snapshot, limits.sandboxHeapMb, () => undefined);
  opens.push(performance.now() - begun);
  await sleep(pauseMs);
  const { promise: ended, resolve } = Promise.withResolvers<undefined>();
  const taken = performance.now();
  const guest = new GuestRun(isolate, given, {
    called(id) {
      starts.push(performance.now() - taken);
      guest.settle(id, true, 'null', '');
    },
    ended: () => resolve(undefined),
    unstoppable: () => undefined,
  });
  await ended;
}
process.send?.({ ...p50p99('realm_open', opens), ...p50p99('realm_start', starts) });
process.disconnect();
