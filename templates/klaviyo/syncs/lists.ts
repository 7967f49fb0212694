import { createSync } from 'svc';
import { z } from 'zod';
import { requestOf } from '../../shared/links.js';
import { MailingList, mailingListOf, type KlaviyoList } from '../list.js';

const sync = createSync({
  description: 'All lists; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['lists:read'],
  models: { MailingList },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ page: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('MailingList');
    const page = (await svc.getCheckpoint())?.page;
    const first = { endpoint: '/api/lists', params: { sort: 'created' } };
    const pages = svc.paginate<KlaviyoList>({
      ...(page === undefined ? first : requestOf(page)),
      paginate: {
        ...(page === undefined ? { limit: 10 } : {}),
        on_page: async ({ nextPageParam: next }) => {
          if (next !== undefined) await svc.saveCheckpoint({ page: String(next) });
        },
      },
      retries: 5,
    });
    for await (const lists of pages) await svc.batchSave(lists.map(mailingListOf), 'MailingList');
    await svc.trackDeletesEnd('MailingList');
    await svc.clearCheckpoint();
  },
});

export default sync;
