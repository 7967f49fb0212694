import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { code?: string } };
}

const notFound = 404;

const action = createAction({
  description: 'Creates a folder',
  version: '1.0.0',
  scopes: ['root_readwrite'],
  input: z.object({
    name: z.string().min(1).max(255),
    /** Default: the top folder. */
    parent_id: z.string().optional(),
  }),
  output: z.object({ id: z.string(), url: z.string() }),

  exec: async (svc, { name, parent_id: parent = '0' }) => {
    try {
      const { data } = await svc.post<{ id: string }>({
        endpoint: '/2.0/folders',
        data: { name, parent: { id: parent } },
        retries: 3,
      });
      return { id: data.id, url: `https://app.box.com/folder/${data.id}` };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (data?.code === 'item_name_in_use') {
        const message = `The folder has an item with the name ${name} already`;
        throw new svc.ActionError({ type: 'name_in_use', message });
      }
      if (status !== notFound) throw error;
      const message = `There is no folder ${parent}, or the person may not see it`;
      throw new svc.ActionError({ type: 'parent_not_found', message });
    }
  },
});

export default action;
