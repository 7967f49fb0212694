import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Creates a form with questions',
  version: '1.0.0',
  scopes: ['forms:write'],
  input: z.object({
    title: z.string().min(1),
    questions: z
      .array(
        z.object({
          title: z.string().min(1),
          type: z.enum(['short_text', 'long_text', 'email', 'number', 'yes_no', 'date']),
          is_required: z.boolean().optional(),
        }),
      )
      .min(1),
  }),
  output: z.object({ id: z.string(), url: z.string().nullable() }),

  exec: async (svc, { title, questions }) => {
    const fields = questions.map((question) => ({
      title: question.title,
      type: question.type,
      validations: { required: question.is_required ?? false },
    }));
    const { data } = await svc.post<{ id: string; _links?: { display?: string } }>({
      endpoint: '/forms',
      data: { title, fields },
      retries: 3,
    });
    return { id: data.id, url: data._links?.display ?? null };
  },
});

export default action;
