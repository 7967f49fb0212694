import { createSync } from 'svc';
import { z } from 'zod';

const CalendarEvent = z.object({ id: z.string(), title: z.string(), startsAt: z.string() });

interface EventList {
  items: {
    id: string;
    status: 'confirmed' | 'tentative' | 'cancelled';
    summary?: string;
    start?: { dateTime?: string; date?: string };
  }[];
  nextPageToken?: string;
  nextSyncToken?: string;
}

const sync = createSync({
  description: 'Events of the primary calendar; after the first run only what has changed',
  version: '1.0.0',
  frequency: 'every 5 minutes',
  autoStart: true,
  models: { CalendarEvent },
  /** From the provider: what has changed since it was given out. */
  checkpoint: z.object({ syncToken: z.string() }),

  exec: async (svc) => {
    const syncToken = (await svc.getCheckpoint())?.syncToken;
    let pageToken: string | undefined;
    do {
      const { data } = await svc.get<EventList>({
        endpoint: '/calendar/v3/calendars/primary/events',
        params: { syncToken, pageToken, maxResults: 2 },
        retries: 3,
      });
      const cancelled = data.items.filter(({ status }) => status === 'cancelled');
      const present = data.items.filter(({ status }) => status !== 'cancelled');
      await svc.batchDelete(cancelled, 'CalendarEvent');
      const rows = present.map(({ id, summary, start }) => ({
        id,
        title: summary ?? '',
        startsAt: start?.dateTime ?? start?.date ?? '',
      }));
      await svc.batchSave(rows, 'CalendarEvent');
      if (data.nextSyncToken !== undefined) {
        await svc.saveCheckpoint({ syncToken: data.nextSyncToken });
      }
      pageToken = data.nextPageToken;
    } while (pageToken !== undefined);
  },
});

export default sync;
