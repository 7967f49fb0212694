import { createSync } from 'svc';
import { z } from 'zod';
import { memberOf, OrganizationMember, type Auth0ApiMember } from '../member.js';

/** The list of all users of a tenant is a search that ends at 1,000: the members of an organization have no end. */
const sync = createSync({
  description: 'All members of an organization; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: false,
  scopes: ['read:organization_members'],
  models: { OrganizationMember },
  metadata: z.object({ organizationId: z.string() }),
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ from: z.string() }),

  exec: async (svc) => {
    const { organizationId } = await svc.getMetadata();
    await svc.trackDeletesStart('OrganizationMember');
    const checkpoint = await svc.getCheckpoint();
    const pages = svc.paginate<Auth0ApiMember>({
      endpoint: `/organizations/${organizationId}/members`,
      params: { from: checkpoint?.from },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'from',
        cursor_path_in_response: 'next',
        response_path: 'members',
        limit_name_in_request: 'take',
        limit: 100,
        on_page: async ({ nextPageParam: from }) => {
          if (from !== undefined) await svc.saveCheckpoint({ from: String(from) });
        },
      },
      retries: 5,
    });
    for await (const page of pages) {
      const members = page.map((member) => memberOf(member, organizationId));
      await svc.batchSave(members, 'OrganizationMember');
    }
    await svc.trackDeletesEnd('OrganizationMember');
    await svc.clearCheckpoint();
  },
});

export default sync;
