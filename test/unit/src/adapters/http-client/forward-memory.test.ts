import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { forward, Forwarding, okWith } from '#test/support/fakes/forwarding.ts';

const calls = 200;
const bytesEach = 64 * 1024;

it('keeps nothing of the calls that have ended, even before the whole memory is collected', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  await using world = new Forwarding();
  const to = await world.upstream((socket) => socket.write(okWith('a')));
  const http = world.client();
  const forwardAll = async (): Promise<void> => {
    for (let n = 0; n < calls; n += 1) {
      // An array on the heap, unlike bytes.
      const ballast = Array.from({ length: bytesEach / 8 }, (_, at) => at + 0.5);
      const cancellation = { isCancelled: false, listener: null, ballast };
      await forward(http, to.url, { cancellation });
      collect({ type: 'minor' });
    }
  };
  await forwardAll();
  const grown: number[] = [];
  // What earlier files of this process left may grow meanwhile, but not each time.
  for (let round = 0; round < 5; round += 1) {
    collect();
    const before = process.memoryUsage().heapUsed;
    await forwardAll();
    grown.push(process.memoryUsage().heapUsed - before);
  }
  // Calls that are kept keep all of it.
  expect(Math.min(...grown)).toBeLessThan((calls * bytesEach) / 2);
});
