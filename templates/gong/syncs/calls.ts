import { createSync } from 'svc';
import { z } from 'zod';
import { Call, callOf } from '../call.js';
import { listCalls } from '../calls.js';

/** The list needs a beginning. */
const beginning = '2010-01-01T00:00:00Z';
/** The filter compares the start of a call (of a web conference the planned one), which is listed once it is processed. */
const delayMs = 2 * 24 * 60 * 60 * 1000;

const sync = createSync({
  description:
    'Calls since the last run, and those of the two days before it again; deleted ones are found by a run from the start',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['api:calls:read:basic'],
  models: { Call },
  checkpoint: z.object({
    /** Start of the calls that this run asks for; empty: all. */
    since: z.string(),
    until: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    cursor: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const until = checkpoint?.until ?? new Date().toISOString();
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === '') await svc.trackDeletesStart('Call');
    for (let cursor = checkpoint?.cursor; ;) {
      const { calls, records } = await listCalls(svc, {
        fromDateTime: since || beginning,
        toDateTime: until,
        cursor,
      });
      await svc.batchSave(calls.map(callOf), 'Call');
      cursor = records.cursor;
      if (cursor === undefined) break;
      await svc.saveCheckpoint({ since, until, cursor });
    }
    if (since === '') await svc.trackDeletesEnd('Call');
    await svc.saveCheckpoint({ since: new Date(Date.parse(until) - delayMs).toISOString() });
  },
});

export default sync;
