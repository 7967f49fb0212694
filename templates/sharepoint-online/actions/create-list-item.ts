import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { data?: { error?: { code?: string } } };
}

const action = createAction({
  description: 'Creates an item of a list',
  version: '1.0.0',
  scopes: ['Sites.ReadWrite.All'],
  input: z.object({
    /** Default: the root site of the organization. */
    site_id: z.string().optional(),
    list_id: z.string().min(1),
    /** By the internal names of the columns, such as `Title`. */
    fields: z.record(z.string(), z.unknown()),
  }),
  output: z.object({ id: z.string(), url: z.string().nullable() }),

  exec: async (svc, { site_id: site = 'root', list_id: list, fields }) => {
    try {
      const { data } = await svc.post<{ id: string; webUrl?: string }>({
        endpoint: `/v1.0/sites/${site}/lists/${list}/items`,
        data: { fields },
        retries: 3,
      });
      return { id: data.id, url: data.webUrl ?? null };
    } catch (error) {
      if ((error as Refusal).response?.data?.error?.code !== 'itemNotFound') throw error;
      const message = `There is no list ${list} on the site ${site}`;
      throw new svc.ActionError({ type: 'list_not_found', message });
    }
  },
});

export default action;
