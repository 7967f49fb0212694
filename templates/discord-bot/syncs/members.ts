import { createSync } from 'svc';
import { z } from 'zod';
import { Member, memberOf, type DiscordMember } from '../member.js';

const sync = createSync({
  description:
    'All members of a server; those that are gone are deleted. The bot needs the privileged intent for members',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: false,
  models: { Member },
  /** The server (guild) that the bot is in. */
  metadata: z.object({ guild_id: z.string() }),
  /** The user after which an interrupted run goes on. */
  checkpoint: z.object({ after: z.string() }),

  exec: async (svc) => {
    const { guild_id: guildId } = await svc.getMetadata();
    await svc.trackDeletesStart('Member');
    for (let after = (await svc.getCheckpoint())?.after; ;) {
      const { data } = await svc.get<DiscordMember[]>({
        endpoint: `/guilds/${guildId}/members`,
        params: { limit: 1000, after },
        retries: 5,
      });
      // Members come by the id of their user.
      after = data.at(-1)?.user.id;
      if (after === undefined) break;
      await svc.batchSave(data.map(memberOf), 'Member');
      await svc.saveCheckpoint({ after });
    }
    await svc.trackDeletesEnd('Member');
    await svc.clearCheckpoint();
  },
});

export default sync;
