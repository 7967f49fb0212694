import { createSync } from 'svc';
import { z } from 'zod';
import { TimeOff } from '../../models/hr.js';
import { nextSince } from '../../shared/since.js';
import { timeOffOf, type DeelTimeOff } from '../time-off.js';

const sync = createSync({
  description:
    'Time off requests that were changed since the last run, of people with an active employment; deleted ones are found by a run from the start',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['time-off:read'],
  models: { TimeOff },
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: everything. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    next: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const following = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // Those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('TimeOff');
    // The documentation names no greatest page.
    const pages = svc.paginate<DeelTimeOff>({
      endpoint: '/time_offs',
      params: { updated_start_date: since || undefined, next: checkpoint?.next },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'next',
        cursor_path_in_response: 'next',
        response_path: 'data',
        limit_name_in_request: 'page_size',
        limit: 50,
        on_page: async ({ nextPageParam: next }) => {
          if (typeof next === 'string')
            await svc.saveCheckpoint({ since, nextSince: following, next });
        },
      },
      retries: 5,
    });
    for await (const requests of pages) await svc.batchSave(requests.map(timeOffOf), 'TimeOff');
    if (since === '') await svc.trackDeletesEnd('TimeOff');
    await svc.saveCheckpoint({ since: following });
  },
});

export default sync;
