import { createSync } from 'svc';
import { z } from 'zod';
import { requestOf } from '../../shared/links.js';
import { nextSince } from '../../shared/since.js';
import { CalendlyEvent, eventOf, type CalendlyApiEvent } from '../event.js';

const sync = createSync({
  description:
    'Events that start after the last run, of a person or of the whole organization; missing ones are deleted by a run from the start',
  version: '1.0.0',
  frequency: 'every 30 minutes',
  autoStart: true,
  scopes: ['users:read', 'scheduled_events:read'],
  models: { CalendlyEvent },
  /** Whose events; `organization` needs an administrator or owner. Default: those of the person. */
  metadata: z.object({ of: z.enum(['user', 'organization']).optional() }),
  checkpoint: z.object({
    /** Of the start of the events that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const { of = 'user' } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // Those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('CalendlyEvent');
    const { data: me } = await svc.get<{ resource: { uri: string; current_organization: string } }>(
      {
        endpoint: '/users/me',
        retries: 5,
      },
    );
    const owner = of === 'user' ? me.resource.uri : me.resource.current_organization;
    // No filter by change: an event is booked and canceled before it starts, and stays as it is afterwards.
    const first = {
      endpoint: '/scheduled_events',
      params: {
        [of]: owner,
        min_start_time: since || undefined,
        sort: 'start_time:asc',
        count: 100,
      },
    };
    const pages = svc.paginate<CalendlyApiEvent>({
      ...(checkpoint?.page === undefined ? first : requestOf(checkpoint.page)),
      paginate: {
        type: 'link',
        link_path_in_response_body: 'pagination.next_page',
        response_path: 'collection',
        on_page: async ({ nextPageParam: page }) => {
          if (typeof page === 'string') await svc.saveCheckpoint({ since, nextSince: next, page });
        },
      },
      retries: 5,
    });
    for await (const events of pages) await svc.batchSave(events.map(eventOf), 'CalendlyEvent');
    if (since === '') await svc.trackDeletesEnd('CalendlyEvent');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;
