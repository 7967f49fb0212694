import { workerData } from 'node:worker_threads';
import { connect } from '../../threads/rpc.ts';
import type { PeerData } from '../../threads/start-peer.ts';
import { checkpoint } from './checkpoint.ts';
import { openCheckpointConnection } from './tables.ts';

/** Start data of the thread, from `Checkpointer`. */
export interface CheckpointThreadData extends PeerData {
  readonly directory: string;
}

const { port, directory } = workerData as CheckpointThreadData;
const db = openCheckpointConnection(directory);

connect(port, { checkpoint: () => checkpoint(db), close: () => db.close() });
