import { createSync } from 'svc';
import { z } from 'zod';
import { pagesOf } from '../pages.js';
import { SlackUser, userOf, type SlackMember } from '../user.js';

const sync = createSync({
  description: 'All users of the workspace; deactivated ones stay, as not active',
  version: '1.0.3',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['users:read', 'users:read.email'],
  models: { SlackUser },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ cursor: z.string() }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const pages = pagesOf<SlackMember>(svc, {
      method: 'users.list',
      rows: 'members',
      cursor: checkpoint?.cursor ?? '',
    });
    for await (const { rows, cursor } of pages) {
      await svc.batchSave(rows.map(userOf), 'SlackUser');
      if (cursor !== '') await svc.saveCheckpoint({ cursor });
    }
    await svc.clearCheckpoint();
  },
});

export default sync;
