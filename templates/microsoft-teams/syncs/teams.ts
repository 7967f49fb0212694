import { createSync } from 'svc';
import { Team, teamOf, type TeamsApiTeam } from '../team.js';

const sync = createSync({
  description: 'All teams of which the person is a member; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['Team.ReadBasic.All'],
  models: { Team },

  exec: async (svc) => {
    await svc.trackDeletesStart('Team');
    const pages = svc.paginate<TeamsApiTeam>({
      endpoint: '/v1.0/me/joinedTeams',
      paginate: {
        type: 'link',
        link_path_in_response_body: '@odata.nextLink',
        response_path: 'value',
      },
      retries: 5,
    });
    for await (const page of pages) {
      await svc.batchSave(page.map(teamOf), 'Team');
    }
    await svc.trackDeletesEnd('Team');
  },
});

export default sync;
