import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { errors?: { title?: string }[] } };
}

interface CreatedPage {
  id: string;
  _links: { webui: string; base?: string };
}

const refusals = new Map([
  [400, 'page_refused'],
  [404, 'space_not_found'],
]);

const action = createAction({
  description: 'Creates and publishes a page in a space',
  version: '1.0.0',
  scopes: ['write:page:confluence'],
  input: z.object({
    space_id: z.string().min(1),
    title: z.string().min(1),
    /** XHTML in the format in which Confluence stores it. */
    content: z.string(),
    /** Default: the homepage of the space. */
    parent_id: z.string().min(1).optional(),
  }),
  output: z.object({ id: z.string(), url: z.string() }),

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<CreatedPage>({
        endpoint: '/wiki/api/v2/pages',
        data: {
          spaceId: input.space_id,
          status: 'current',
          title: input.title,
          parentId: input.parent_id,
          body: { representation: 'storage', value: input.content },
        },
        retries: 3,
      });
      return { id: data.id, url: `${data._links.base ?? ''}${data._links.webui}` };
    } catch (error) {
      const { status = 0, data } = (error as Refusal).response ?? {};
      const type = refusals.get(status);
      if (type === undefined) throw error;
      const message = data?.errors?.[0]?.title ?? 'Confluence refuses the page';
      throw new svc.ActionError({ type, message });
    }
  },
});

export default action;
