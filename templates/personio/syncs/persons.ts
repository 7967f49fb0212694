import { createSync } from 'svc';
import { z } from 'zod';
import { Employee } from '../../models/hr.js';
import { requestOf } from '../../shared/links.js';
import { pagesFrom } from '../../shared/page-tokens.js';
import { nextSince } from '../../shared/since.js';
import { employeeOf, type PersonioPerson } from '../person.js';

interface PersonsPage {
  _data: PersonioPerson[];
  _meta?: { links?: { next?: { href?: string | null } | null } };
}

const sync = createSync({
  description:
    'Persons that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.1',
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
    // No page of the documentation says how long an address is valid: where it is refused, the list begins again.
    const pages = pagesFrom(checkpoint?.page ?? '', async (address) => {
      const { data } = await svc.get<PersonsPage>({
        ...(address === undefined ? first : requestOf(address)),
        retries: 5,
      });
      return {
        data: { persons: data._data, nextPageToken: data._meta?.links?.next?.href ?? null },
      };
    });
    for await (const { page, pageToken } of pages) {
      await svc.batchSave(page.persons.map(employeeOf), 'Employee');
      if (pageToken !== '') await svc.saveCheckpoint({ since, nextSince: next, page: pageToken });
    }
    if (since === '') await svc.trackDeletesEnd('Employee');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;
