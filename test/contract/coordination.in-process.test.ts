import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import { coordinationContract } from './coordination.contract.ts';

coordinationContract('in process', {
  async begin() {
    let now = 0;
    const coordination = openInProcessCoordination(() => now);
    return {
      // Every part of the process has the same.
      open: async () => coordination,
      pass: async (ms) => void (now += ms),
      now: () => now,
      wait: async (ms) => void (now += ms),
      [Symbol.asyncDispose]: () => coordination[Symbol.asyncDispose](),
    };
  },
});
