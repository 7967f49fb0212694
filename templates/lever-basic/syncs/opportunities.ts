import { createSync } from 'svc';
import { z } from 'zod';
import { nextSince } from '../../shared/since.js';
import { Application, applicationOf, type LeverOpportunity } from '../opportunity.js';

const sync = createSync({
  description: 'Opportunities that were changed or deleted since the last run',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Application },
  checkpoint: z.object({
    /** Of the changes that this run asks for, in milliseconds since the epoch; 0: everything. */
    since: z.number(),
    nextSince: z.number().optional(),
    /** The page at which an interrupted run goes on. */
    offset: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? 0;
    const next = checkpoint?.nextSince ?? nextSince();
    const { data: reasons } = await svc.get<{ data: { id: string }[] }>({
      endpoint: '/v1/archive_reasons',
      params: { type: 'hired', limit: 100 },
      retries: 5,
    });
    const hiredReasons = new Set(reasons.data.map(({ id }) => id));
    const pages = svc.paginate<LeverOpportunity>({
      endpoint: '/v1/opportunities',
      params: {
        // Without it the list leaves confidential ones out.
        confidentiality: 'all',
        expand: 'applications',
        updated_at_start: since === 0 ? undefined : since,
        offset: checkpoint?.offset,
      },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'offset',
        cursor_path_in_response: 'next',
        response_path: 'data',
        limit_name_in_request: 'limit',
        limit: 100,
        on_page: async ({ nextPageParam: offset }) => {
          if (typeof offset === 'string')
            await svc.saveCheckpoint({ since, nextSince: next, offset });
        },
      },
      retries: 5,
    });
    for await (const opportunities of pages) {
      await svc.batchSave(
        opportunities.map((opportunity) => applicationOf(opportunity, hiredReasons)),
        'Application',
      );
    }
    const deletedPages = svc.paginate<{ id: string }>({
      endpoint: '/v1/opportunities/deleted',
      params: { deleted_at_start: since === 0 ? undefined : since },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'offset',
        cursor_path_in_response: 'next',
        response_path: 'data',
        limit_name_in_request: 'limit',
        limit: 100,
      },
      retries: 5,
    });
    for await (const deleted of deletedPages) {
      await svc.batchDelete(
        deleted.map(({ id }) => ({ id })),
        'Application',
      );
    }
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;
