import { createAction } from 'svc';
import { z } from 'zod';

/** The documentation shows the id alone. */
type CreatedNote = { noteId: string } | { id: string };

const action = createAction({
  description: 'Adds a note to an opportunity',
  version: '1.0.1',
  input: z.object({
    opportunity_id: z.string().regex(/^[0-9a-f-]+$/i),
    /** Id of the user who writes it. */
    perform_as: z.string().optional(),
    body: z.string().min(1),
    is_secret: z.boolean().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<{ data: CreatedNote }>({
        endpoint: `/v1/opportunities/${input.opportunity_id}/notes`,
        params: { perform_as: input.perform_as },
        data: { value: input.body, secret: input.is_secret },
        retries: 3,
      });
      return { id: 'noteId' in data.data ? data.data.noteId : data.data.id };
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status !== 404) throw error;
      const message = 'There is no such opportunity';
      throw new svc.ActionError({ type: 'opportunity_not_found', message });
    }
  },
});

export default action;
