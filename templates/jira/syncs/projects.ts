import { createSync } from 'svc';
import { z } from 'zod';
import { TicketCollection } from '../../models/ticketing.js';
import { collectionOf, type JiraProject } from '../project.js';
import { pagesOfSite } from '../site.js';

interface ProjectPage {
  values: JiraProject[];
  isLast: boolean;
}

const sync = createSync({
  description: 'All projects; those that were archived, put into the trash or deleted are deleted',
  version: '1.1.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['read:jira-work'],
  models: { TicketCollection },
  /** Projects before it are saved: an interrupted run goes on there. */
  checkpoint: z.object({ startAt: z.number() }),

  exec: async (svc) => {
    const pageOf = await pagesOfSite(svc);
    await svc.trackDeletesStart('TicketCollection');
    let startAt = (await svc.getCheckpoint())?.startAt ?? 0;
    for (;;) {
      const { data: page } = await svc.get<ProjectPage>({
        endpoint: '/rest/api/3/project/search',
        params: {
          expand: 'description',
          orderBy: 'key',
          status: 'live',
          startAt,
          maxResults: 100,
        },
        retries: 5,
      });
      const projects = page.values.map((project) => collectionOf(project, pageOf));
      await svc.batchSave(projects, 'TicketCollection');
      // Not by a short page: Jira may lower its maximum.
      if (page.isLast || page.values.length === 0) break;
      startAt += page.values.length;
      await svc.saveCheckpoint({ startAt });
    }
    await svc.trackDeletesEnd('TicketCollection');
    await svc.clearCheckpoint();
  },
});

export default sync;
