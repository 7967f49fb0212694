import { afterAll, beforeAll, expect, it } from 'vitest';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { memoryReturned, memoryRounds } from '#test/support/judges/memory-rounds.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';

const rounds = roundsOf({ push: 1, all: 20 });
const timeoutMs = (1 + rounds) * 60_000;
/** Of a process that has had no run yet. */
const restingMb = 100;

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { SVC_RATE_LIMIT_PER_MINUTE: '0' } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

it(
  'actions that run out of memory end no run of another environment, and their memory returns',
  async () => {
    const { exhausted, beside } = await memoryRounds(gateway, { rounds });
    const outOfMemory = { '424 function_runtime_out_of_memory': rounds };
    expect(exhausted).toEqual({
      closures: outOfMemory,
      arrays: outOfMemory,
      maps: outOfMemory,
      strings: outOfMemory,
      'typed arrays': outOfMemory,
      'WebAssembly memory': { 200: rounds },
    });
    expect(Object.keys(beside).sort()).toEqual(['200', 'succeeded']);
    // It takes half a minute of rest.
    if (rounds > 1) await memoryReturned(gateway.process.pid, restingMb);
  },
  timeoutMs,
);
