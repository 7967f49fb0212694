import { createSync } from 'svc';
import { z } from 'zod';
import { Channel, channelFields, channelOf, type TeamsApiChannel } from '../channel.js';

const sync = createSync({
  description: 'All channels of a team that the person may see; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: false,
  scopes: ['Channel.ReadBasic.All'],
  models: { Channel },
  /** The group id in the link to the team. */
  metadata: z.object({ teamId: z.string() }),

  exec: async (svc) => {
    const { teamId } = await svc.getMetadata();
    await svc.trackDeletesStart('Channel');
    const pages = svc.paginate<TeamsApiChannel>({
      endpoint: `/v1.0/teams/${teamId}/channels`,
      params: { $select: channelFields.join(',') },
      paginate: {
        type: 'link',
        link_path_in_response_body: '@odata.nextLink',
        response_path: 'value',
      },
      retries: 5,
    });
    for await (const page of pages) {
      const channels = page.map((channel) => channelOf(channel, teamId));
      await svc.batchSave(channels, 'Channel');
    }
    await svc.trackDeletesEnd('Channel');
  },
});

export default sync;
