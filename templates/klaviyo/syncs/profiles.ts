import { createSync } from 'svc';
import { z } from 'zod';
import { Contact } from '../../models/crm.js';
import { requestOf } from '../../shared/links.js';
import { nextSinceIso } from '../../shared/since.js';
import { contactOf, type KlaviyoProfile } from '../profile.js';

const sync = createSync({
  description:
    'Profiles that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['profiles:read'],
  models: { Contact },
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? nextSinceIso();
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === '') await svc.trackDeletesStart('Contact');
    // By creation: a profile that changes meanwhile moves no other to a page that was read.
    const first = {
      endpoint: '/api/profiles',
      params: {
        filter: since === '' ? undefined : `greater-than(updated,${since})`,
        sort: 'created',
      },
    };
    const pages = svc.paginate<KlaviyoProfile>({
      ...(checkpoint?.page === undefined ? first : requestOf(checkpoint.page)),
      paginate: {
        ...(checkpoint?.page === undefined ? { limit: 100 } : {}),
        on_page: async ({ nextPageParam: page }) => {
          if (page === undefined) return;
          await svc.saveCheckpoint({ since, nextSince: next, page: String(page) });
        },
      },
      retries: 5,
    });
    for await (const profiles of pages) await svc.batchSave(profiles.map(contactOf), 'Contact');
    if (since === '') await svc.trackDeletesEnd('Contact');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;
