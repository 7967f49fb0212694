import { workerData } from 'node:worker_threads';
import { connect } from '../../threads/rpc.ts';
import { checkpoint } from './checkpoint.ts';
import type { CheckpointThreadData } from './checkpointer.ts';
import { openCheckpointConnection } from './tables.ts';

const { port, directory } = workerData as CheckpointThreadData;
const db = openCheckpointConnection(directory);

connect(port, { checkpoint: () => checkpoint(db), close: () => db.close() });
