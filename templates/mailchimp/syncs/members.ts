import { createSync } from 'svc';
import { z } from 'zod';
import { nextSinceIso } from '../../shared/since.js';
import { listed } from '../lists.js';
import { Subscriber, subscriberOf, type MailchimpMember } from '../member.js';

const sync = createSync({
  description:
    'Members of a list that were changed or archived since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: false,
  models: { Subscriber },
  /** The list (audience) whose members are saved: `id` of a list. */
  metadata: z.object({ list_id: z.string() }),
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** Members before it are saved: an interrupted run goes on there. */
    offset: z.number().optional(),
  }),

  exec: async (svc) => {
    const { list_id: listId } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? nextSinceIso();
    const endpoint = `/3.0/lists/${listId}/members`;
    const changed = { since_last_changed: since || undefined };
    const byCreation = { sort_field: 'timestamp_opt', sort_dir: 'ASC' };
    // No list has what was deleted for good: what a run from the start does not find is gone.
    if (since === '') await svc.trackDeletesStart('Subscriber');
    const pages = listed<MailchimpMember>(svc, {
      endpoint,
      params: { ...changed, ...byCreation },
      path: 'members',
      offset: checkpoint?.offset ?? 0,
      savePosition: (offset) => svc.saveCheckpoint({ since, nextSince: next, offset }),
    });
    for await (const members of pages) {
      const present = members.filter(({ status }) => status !== 'archived');
      await svc.batchSave(present.map(subscriberOf), 'Subscriber');
    }
    // Archived members are listed only with this status.
    const archivedPages = listed<MailchimpMember>(svc, {
      endpoint,
      params: { ...changed, ...byCreation, status: 'archived' },
      path: 'members',
      offset: 0,
      savePosition: async () => {},
    });
    for await (const archived of archivedPages) {
      await svc.batchDelete(
        archived.map(({ contact_id: id }) => ({ id })),
        'Subscriber',
      );
    }
    if (since === '') await svc.trackDeletesEnd('Subscriber');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;
