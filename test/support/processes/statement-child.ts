import { startPeer } from '#adapters/threads/start-peer.ts';
import type { StatementThreadData } from './statement-thread.ts';

/** Terminates a thread in the middle of a statement of the engine, and prints that the process goes on. */
const [folder = '', seconds = ''] = process.argv.slice(2);
// The engine's library is not unmapped with the thread.
await import('chdb');
const sql = `SELECT count(sleepEachRow(1)) FROM numbers(${seconds}) SETTINGS max_block_size = 1`;
const { peer, end } = startPeer<StatementThreadData>({
  name: 'statement',
  beside: import.meta.url,
  data: { folder, sql },
});
await peer.call('begin', []);
await peer.call('settle', []);
await end();
console.log('terminated');
