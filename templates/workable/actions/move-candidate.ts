import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Moves a candidate to another stage of the job',
  version: '1.1.0',
  scopes: ['w_candidates'],
  input: z.object({
    candidate_id: z.string().regex(/^\w+$/),
    /** Id of the member who moves the candidate. */
    member_id: z.string().min(1),
    /** Slug of the stage. */
    stage: z.string().min(1),
    /** Of an account with a hiring plan, to a stage of kind `hired`: fills the requisition reserved for the candidate. */
    fills_requisition: z.boolean().optional(),
  }),
  output: z.object({ id: z.string(), stage: z.string() }),

  exec: async (svc, input) => {
    const { candidate_id: id, stage } = input;
    try {
      await svc.post({
        endpoint: `/candidates/${id}/move`,
        data: {
          member_id: input.member_id,
          target_stage: stage,
          fill_reserved_requisition: input.fills_requisition,
        },
        retries: 3,
      });
      return { id, stage };
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status !== 404) throw error;
      const message = 'There is no such candidate';
      throw new svc.ActionError({ type: 'candidate_not_found', message });
    }
  },
});

export default action;
