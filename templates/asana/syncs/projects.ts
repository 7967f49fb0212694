import { createSync } from 'svc';
import { z } from 'zod';
import { TicketCollection } from '../../models/ticketing.js';
import { pagesOf } from '../pages.js';
import { collectionOf, projectFields, type AsanaProject } from '../project.js';

const sync = createSync({
  description: 'All projects of all workspaces; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['workspaces:read', 'projects:read'],
  models: { TicketCollection },
  /** Where an interrupted run goes on. */
  checkpoint: z.object({ workspace: z.string(), offset: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('TicketCollection');
    const checkpoint = await svc.getCheckpoint();
    const workspaces: string[] = [];
    for await (const { rows } of pagesOf<{ gid: string }>(svc, { endpoint: '/workspaces' }))
      workspaces.push(...rows.map(({ gid }) => gid));
    const begin = Math.max(0, workspaces.indexOf(checkpoint?.workspace ?? ''));
    for (const workspace of workspaces.slice(begin)) {
      const pages = pagesOf<AsanaProject>(svc, {
        endpoint: `/workspaces/${workspace}/projects`,
        params: { opt_fields: projectFields },
        offset: checkpoint?.workspace === workspace ? checkpoint.offset : '',
      });
      for await (const { rows, offset } of pages) {
        await svc.batchSave(rows.map(collectionOf), 'TicketCollection');
        await svc.saveCheckpoint({ workspace, offset });
      }
    }
    await svc.trackDeletesEnd('TicketCollection');
    await svc.clearCheckpoint();
  },
});

export default sync;
