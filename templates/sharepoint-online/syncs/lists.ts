import { createSync } from 'svc';
import { z } from 'zod';
import { requestOf } from '../../shared/links.js';
import { listOf, SharepointList, type SharepointApiList } from '../list.js';

const sync = createSync({
  description:
    'All lists and libraries of a site but those of the system; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['Sites.Read.All'],
  models: { SharepointList },
  /** `host,id,id`; default: the root site of the organization. */
  metadata: z.object({ siteId: z.string().optional() }),
  /** Of the page at which an interrupted run goes on. */
  checkpoint: z.object({ link: z.string() }),

  exec: async (svc) => {
    const { siteId = 'root' } = await svc.getMetadata();
    await svc.trackDeletesStart('SharepointList');
    const checkpoint = await svc.getCheckpoint();
    const first = { endpoint: `/v1.0/sites/${siteId}/lists` };
    const pages = svc.paginate<SharepointApiList>({
      ...(checkpoint === null ? first : requestOf(checkpoint.link)),
      paginate: {
        type: 'link',
        link_path_in_response_body: '@odata.nextLink',
        response_path: 'value',
        on_page: async ({ nextPageParam: link }) => {
          if (link !== undefined) await svc.saveCheckpoint({ link: String(link) });
        },
      },
      retries: 5,
    });
    for await (const page of pages) {
      const lists = page.map((list) => listOf(list, siteId));
      await svc.batchSave(lists, 'SharepointList');
    }
    await svc.trackDeletesEnd('SharepointList');
    await svc.clearCheckpoint();
  },
});

export default sync;
