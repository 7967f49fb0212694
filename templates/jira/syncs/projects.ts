import { createSync } from 'svc';
import { z } from 'zod';
import { TicketCollection } from '../../models/ticketing.js';
import { collectionOf, type JiraProject } from '../project.js';

const sync = createSync({
  description: 'All projects; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['read:jira-work'],
  models: { TicketCollection },
  /** Projects before it are saved: an interrupted run goes on there. */
  checkpoint: z.object({ startAt: z.number() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('TicketCollection');
    let startAt = (await svc.getCheckpoint())?.startAt ?? 0;
    const pages = svc.paginate<JiraProject>({
      endpoint: '/rest/api/3/project/search',
      params: { expand: 'description', orderBy: 'key', status: 'live' },
      paginate: {
        type: 'offset',
        offset_name_in_request: 'startAt',
        offset_start_value: startAt,
        offset_calculation_method: 'by-response-size',
        response_path: 'values',
        limit_name_in_request: 'maxResults',
        limit: 100,
      },
      retries: 5,
    });
    for await (const projects of pages) {
      await svc.batchSave(projects.map(collectionOf), 'TicketCollection');
      startAt += projects.length;
      await svc.saveCheckpoint({ startAt });
    }
    await svc.trackDeletesEnd('TicketCollection');
    await svc.clearCheckpoint();
  },
});

export default sync;
