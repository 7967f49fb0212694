import { createSync } from 'svc';
import { z } from 'zod';
import { Calendar } from '../../models/calendar.js';
import { calendarOf, type GoogleCalendar } from '../calendar.js';
import { changedEntries, isTokenGone, start } from '../changes.js';

const sync = createSync({
  description:
    'Calendars of the list of the person that were changed or removed since the last run',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['https://www.googleapis.com/auth/calendar.readonly'],
  models: { Calendar },
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: all calendars. */
    syncToken: z.string(),
    /** The page at which an interrupted run goes on. */
    pageToken: z.string(),
  }),

  exec: async (svc) => {
    const list = {
      endpoint: '/users/me/calendarList',
      params: { maxResults: 250, showHidden: true },
    };
    const begin = (await svc.getCheckpoint()) ?? start;
    const isFull = begin.syncToken === '';
    if (isFull) await svc.trackDeletesStart('Calendar');
    try {
      for await (const page of changedEntries<GoogleCalendar>(svc, list, begin)) {
        const present = page.entries.filter(({ deleted }) => deleted !== true);
        const removed = page.entries.filter(({ deleted }) => deleted === true);
        await svc.batchSave(present.map(calendarOf), 'Calendar');
        await svc.batchDelete(
          removed.map(({ id }) => ({ id })),
          'Calendar',
        );
        if (page.isLast && isFull) await svc.trackDeletesEnd('Calendar');
        await svc.saveCheckpoint(page.position);
      }
    } catch (error) {
      if (!isTokenGone(error)) throw error;
      // The next run reads everything, and finds what was deleted meanwhile.
      await svc.clearCheckpoint();
    }
  },
});

export default sync;
