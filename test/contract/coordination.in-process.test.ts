import { openInProcessCoordination } from '../../src/adapters/coordination/in-process.ts';
import { coordinationContract } from './coordination.contract.ts';

let now = 0;

coordinationContract('in process', {
  open: async () => openInProcessCoordination(() => now),
  pass: async (ms) => void (now += ms),
});
