import { createSync } from 'svc';
import { z } from 'zod';
import { MailingList, mailingListOf, type MailchimpList } from '../list.js';
import { listed } from '../lists.js';

const sync = createSync({
  description: 'All lists (audiences); those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  models: { MailingList },
  /** Lists before it are saved: an interrupted run goes on there. */
  checkpoint: z.object({ offset: z.number() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('MailingList');
    const pages = listed<MailchimpList>(svc, {
      endpoint: '/3.0/lists',
      params: { sort_field: 'date_created', sort_dir: 'ASC' },
      path: 'lists',
      offset: (await svc.getCheckpoint())?.offset ?? 0,
      savePosition: (offset) => svc.saveCheckpoint({ offset }),
    });
    for await (const lists of pages) await svc.batchSave(lists.map(mailingListOf), 'MailingList');
    await svc.trackDeletesEnd('MailingList');
    await svc.clearCheckpoint();
  },
});

export default sync;
