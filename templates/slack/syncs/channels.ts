import { createSync } from 'svc';
import { z } from 'zod';
import { channelOf, SlackChannel, type SlackConversation } from '../channel.js';
import { pagesOf } from '../pages.js';

const sync = createSync({
  description:
    'All public channels, and the private ones of the app; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['channels:read', 'groups:read'],
  models: { SlackChannel },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ cursor: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('SlackChannel');
    const checkpoint = await svc.getCheckpoint();
    const pages = pagesOf<SlackConversation>(svc, {
      method: 'conversations.list',
      params: { types: 'public_channel,private_channel', exclude_archived: false },
      rows: 'channels',
      cursor: checkpoint?.cursor ?? '',
    });
    for await (const { rows, cursor } of pages) {
      await svc.batchSave(rows.map(channelOf), 'SlackChannel');
      if (cursor !== '') await svc.saveCheckpoint({ cursor });
    }
    await svc.trackDeletesEnd('SlackChannel');
    await svc.clearCheckpoint();
  },
});

export default sync;
