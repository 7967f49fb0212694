import { createAction } from 'svc';
import { z } from 'zod';

const notFound = 404;

const paragraphOf = (content: string) => ({
  object: 'block',
  type: 'paragraph',
  paragraph: { rich_text: [{ type: 'text', text: { content } }] },
});

const action = createAction({
  description: 'Creates a page in a database or below another page',
  version: '1.0.1',
  input: z.object({
    parent: z.object({ type: z.enum(['database', 'page']), id: z.string().min(1) }),
    title: z.string().min(1).max(2000),
    /** Of the text, at most 100. */
    paragraphs: z.array(z.string().max(2000)).max(100).optional(),
  }),
  output: z.object({ id: z.string(), url: z.string() }),

  exec: async (svc, { parent, title, paragraphs }) => {
    try {
      const { data } = await svc.post<{ id: string; url: string }>({
        endpoint: '/v1/pages',
        data: {
          parent: { [`${parent.type}_id`]: parent.id },
          // "title" is the id of the column with the title in every database.
          properties: { title: { title: [{ text: { content: title } }] } },
          children: paragraphs?.map(paragraphOf),
        },
        retries: 3,
      });
      return { id: data.id, url: data.url };
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status !== notFound) throw error;
      const message = `There is no such ${parent.type}, or it is not shared with the integration`;
      throw new svc.ActionError({ type: 'parent_not_found', message });
    }
  },
});

export default action;
