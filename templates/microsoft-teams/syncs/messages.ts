import { createSync } from 'svc';
import { z } from 'zod';
import { changesOf, isLinkGone } from '../../shared/graph-changes.js';
import { ChannelMessage, messageOf, type TeamsApiMessage } from '../message.js';

const sync = createSync({
  description:
    'Messages of a channel, without replies, that were written, changed or deleted since the last run; none that are older than eight months',
  version: '1.0.1',
  frequency: 'every 30 minutes',
  autoStart: false,
  scopes: ['ChannelMessage.Read.All'],
  models: { ChannelMessage },
  /** Ids, as the link to the channel has them. */
  metadata: z.object({ teamId: z.string(), channelId: z.string() }),
  /** Of the page or of the changes with which the next request begins. */
  checkpoint: z.object({ link: z.string() }),

  exec: async (svc) => {
    const { teamId, channelId } = await svc.getMetadata();
    const begin = (await svc.getCheckpoint())?.link ?? '';
    const query = {
      endpoint: `/v1.0/teams/${teamId}/channels/${channelId}/messages/delta`,
      params: { $top: 50 },
    };
    try {
      for await (const page of changesOf<TeamsApiMessage>(svc, query, begin)) {
        const present = page.present.filter((message) => !message.deletedDateTime);
        const deleted = page.present.filter((message) => message.deletedDateTime);
        await svc.batchSave(
          present.map((message) => messageOf(message, channelId)),
          'ChannelMessage',
        );
        const gone = [...deleted.map(({ id }) => ({ id })), ...page.removed];
        await svc.batchDelete(gone, 'ChannelMessage');
        await svc.saveCheckpoint({ link: page.link });
      }
    } catch (error) {
      if (!isLinkGone(error)) throw error;
      // The next run reads the last eight months: older messages stay as they are.
      await svc.clearCheckpoint();
    }
  },
});

export default sync;
