import { createSync } from 'svc';
import { z } from 'zod';
import { Employee } from '../../models/hr.js';
import { requestOf } from '../../shared/links.js';
import { nextSince } from '../../shared/since.js';
import { employeeOf, type PersonioPerson } from '../person.js';

const sync = createSync({
  description:
    'Persons that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['personio:persons:read'],
  models: { Employee },
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: everything. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // Those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Employee');
    const first = {
      endpoint: '/v2/persons',
      params: { limit: 50, 'updated_at.gt': since || undefined },
    };
    const pages = svc.paginate<PersonioPerson>({
      ...(checkpoint?.page === undefined ? first : requestOf(checkpoint.page)),
      paginate: {
        type: 'link',
        link_path_in_response_body: '_meta.links.next.href',
        response_path: '_data',
        on_page: async ({ nextPageParam: page }) => {
          if (typeof page === 'string') await svc.saveCheckpoint({ since, nextSince: next, page });
        },
      },
      retries: 5,
    });
    for await (const persons of pages) await svc.batchSave(persons.map(employeeOf), 'Employee');
    if (since === '') await svc.trackDeletesEnd('Employee');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;
