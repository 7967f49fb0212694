import { createSync } from 'svc';
import { z } from 'zod';
import { nextSince } from '../../shared/since.js';
import { Incident, incidentOf, type PagerDutyApiIncident } from '../incident.js';
import { pageAt, pageSize } from '../pages.js';

/** PagerDuty lists at most six months in one request. */
const windowMs = 150 * 86_400_000;
/** It refuses an offset and a limit beyond this sum. */
const rowsMax = 10_000;
const overlapMs = 60_000;
/** Before the first incident of any account. */
const firstDay = '2009-01-01';

const sync = createSync({
  description:
    'Incidents since the oldest that was open at the last run, by creation. PagerDuty deletes none',
  version: '1.0.0',
  frequency: 'every 5 minutes',
  autoStart: true,
  scopes: ['incidents.read'],
  models: { Incident },
  /** The day from which incidents are read; default: all. */
  metadata: z.object({ since: z.iso.date().optional() }),
  checkpoint: z.object({
    /** Of the creation of the incidents that come next; their pages up to the offset are saved. */
    from: z.string(),
    offset: z.number(),
    /** The end of an interrupted run. */
    until: z.string().optional(),
    /** Where the next run begins, as known up to here. */
    nextFrom: z.string().optional(),
  }),

  exec: async (svc) => {
    const { since: firstSince = firstDay } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const until = checkpoint?.until ?? new Date().toISOString();
    // No filter by change: what was open is read again, since it may be resolved by now.
    let nextFrom = checkpoint?.nextFrom ?? new Date(nextSince()).toISOString();
    let from = checkpoint?.from ?? isoOf(Date.parse(firstSince));
    let offset = checkpoint?.offset ?? 0;
    while (from < until) {
      const end = isoOf(Math.min(Date.parse(from) + windowMs, Date.parse(until)));
      const query = {
        endpoint: '/incidents',
        path: 'incidents',
        // By creation: one that changes meanwhile moves no other to a page that was read.
        params: { since: from, until: end, sort_by: 'created_at:asc' },
      };
      const { rows, hasMore } = await pageAt<PagerDutyApiIncident>(svc, query, offset);
      await svc.batchSave(rows.map(incidentOf), 'Incident');
      const open = rows.find(({ status }) => status !== 'resolved');
      if (open !== undefined) nextFrom = earlier(nextFrom, before(open.created_at));
      const last = rows.at(-1);
      offset += rows.length;
      if (!hasMore || last === undefined) [from, offset] = [end, 0];
      else if (offset + pageSize > rowsMax) [from, offset] = [before(last.created_at), 0];
      await svc.saveCheckpoint({ from, offset, until, nextFrom });
    }
    await svc.saveCheckpoint({ from: nextFrom, offset: 0 });
  },
});

const isoOf = (time: number): string => new Date(time).toISOString();

const before = (time: string): string => isoOf(Date.parse(time) - overlapMs);

const earlier = (one: string, other: string): string => (one < other ? one : other);

export default sync;
