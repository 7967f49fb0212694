import { createSync } from 'svc';
import { z } from 'zod';
import { changedEntries, isTokenGone, start } from '../changes.js';
import { eventOf, RecurringEvent, type GoogleEvent } from '../event.js';

const sync = createSync({
  description:
    'Events of a calendar that were changed or cancelled since the last run; series with their rules, without the days on which they are cancelled',
  version: '1.0.1',
  frequency: 'every 30 minutes',
  autoStart: true,
  scopes: ['https://www.googleapis.com/auth/calendar.events.readonly'],
  models: { CalendarEvent: RecurringEvent },
  /** Default: the calendar of the person. */
  metadata: z.object({ calendarId: z.string().optional() }),
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: all events. */
    syncToken: z.string(),
    /** The page at which an interrupted run goes on. */
    pageToken: z.string(),
  }),

  exec: async (svc) => {
    const { calendarId = 'primary' } = await svc.getMetadata();
    const list = {
      endpoint: `/calendars/${encodeURIComponent(calendarId)}/events`,
      params: { maxResults: 2500 },
    };
    const begin = (await svc.getCheckpoint()) ?? start;
    const isFull = begin.syncToken === '';
    if (isFull) await svc.trackDeletesStart('CalendarEvent');
    try {
      for await (const page of changedEntries<GoogleEvent>(svc, list, begin)) {
        const present = page.entries.filter(({ status }) => status !== 'cancelled');
        const cancelled = page.entries.filter(({ status }) => status === 'cancelled');
        await svc.batchSave(
          present.map((event) => eventOf(event, calendarId)),
          'CalendarEvent',
        );
        await svc.batchDelete(
          cancelled.map(({ id }) => ({ id })),
          'CalendarEvent',
        );
        if (page.isLast && isFull) await svc.trackDeletesEnd('CalendarEvent');
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
