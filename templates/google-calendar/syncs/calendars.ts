import { createSync } from 'svc';
import { z } from 'zod';
import { Calendar } from '../../models/calendar.js';
import { calendarOf, type GoogleCalendar } from '../calendar.js';

/** Without its changes since a token: those leave out what a calendar's owner has changed, such as its name. */
const sync = createSync({
  description: 'All calendars of the list of the person; those that are gone are deleted',
  version: '1.1.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['https://www.googleapis.com/auth/calendar.readonly'],
  models: { Calendar },
  /** The page at which an interrupted run goes on; empty: the first. */
  checkpoint: z.object({ pageToken: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('Calendar');
    const first = (await svc.getCheckpoint())?.pageToken ?? '';
    const pages = svc.paginate<GoogleCalendar>({
      endpoint: '/users/me/calendarList',
      params: { showHidden: true, pageToken: first || undefined },
      paginate: {
        limit: 250,
        on_page: async ({ nextPageParam: pageToken }) => {
          if (pageToken !== undefined) await svc.saveCheckpoint({ pageToken: String(pageToken) });
        },
      },
      retries: 5,
    });
    for await (const calendars of pages) {
      await svc.batchSave(calendars.map(calendarOf), 'Calendar');
    }
    await svc.trackDeletesEnd('Calendar');
    await svc.clearCheckpoint();
  },
});

export default sync;
