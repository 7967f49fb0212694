import { createSync } from 'svc';
import { z } from 'zod';
import { Channel, channelOf, type DiscordChannel } from '../channel.js';

const sync = createSync({
  description: 'All channels of a server, without threads; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: false,
  models: { Channel },
  /** The server (guild) that the bot is in. */
  metadata: z.object({ guild_id: z.string() }),

  exec: async (svc) => {
    const { guild_id: guildId } = await svc.getMetadata();
    await svc.trackDeletesStart('Channel');
    // The list has one page.
    const { data } = await svc.get<DiscordChannel[]>({
      endpoint: `/guilds/${guildId}/channels`,
      retries: 5,
    });
    await svc.batchSave(data.map(channelOf), 'Channel');
    await svc.trackDeletesEnd('Channel');
  },
});

export default sync;
