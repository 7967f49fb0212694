import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { data?: { error?: { code?: string } } };
}

const action = createAction({
  description:
    'Creates a folder in the drive of the person. Where the response to a first attempt was lost, the second is refused as name_in_use',
  version: '1.0.1',
  scopes: ['Files.ReadWrite'],
  input: z.object({
    name: z.string().min(1).max(255),
    /** Default: the top folder. */
    parent_id: z.string().optional(),
  }),
  output: z.object({ id: z.string(), url: z.string().nullable() }),

  exec: async (svc, { name, parent_id: parent }) => {
    try {
      const { data } = await svc.post<{ id: string; webUrl?: string }>({
        endpoint: `/v1.0/me/drive/${parent === undefined ? 'root' : `items/${encodeURIComponent(parent)}`}/children`,
        data: { name, folder: {}, '@microsoft.graph.conflictBehavior': 'fail' },
        retries: 3,
      });
      return { id: data.id, url: data.webUrl ?? null };
    } catch (error) {
      const code = (error as Refusal).response?.data?.error?.code;
      if (code === 'nameAlreadyExists') {
        const message = `The folder has an item with the name ${name} already`;
        throw new svc.ActionError({ type: 'name_in_use', message });
      }
      if (code !== 'itemNotFound') throw error;
      const message = `There is no folder ${parent ?? 'at the top'}`;
      throw new svc.ActionError({ type: 'parent_not_found', message });
    }
  },
});

export default action;
