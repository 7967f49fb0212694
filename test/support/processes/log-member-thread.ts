/** A thread with a client of its own: it joins the group `g` and appends once it holds something. */
import { workerData, type MessagePort } from 'node:worker_threads';
import { openEmbeddedLogClient } from '#adapters/event-log/embedded/client.ts';
import { message, placed } from '../worlds/log.ts';

const { directory, port } = workerData as { directory: string; port: MessagePort };
const { log } = openEmbeddedLogClient({ directory, port });
await log.join('g', ['t'], {
  assigned: async () => {
    await log.append([placed('t', 0, message('from the thread'))]);
  },
  revoked: () => undefined,
});
