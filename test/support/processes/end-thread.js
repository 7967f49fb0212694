// Loaded before everything else of each thread: ends the thread that a file of the data folder names.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, threadName } from 'node:worker_threads';

const file = (how) => join(process.env.SVC_DATA_DIR, `${how}-${threadName}`);
const look = () => {
  if (existsSync(file('exit'))) process.exit(3);
  if (existsSync(file('throw'))) throw new RangeError('made to fail');
};
if (!isMainThread) setInterval(look, 20).unref();
