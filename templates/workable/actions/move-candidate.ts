import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Moves a candidate to another stage of the job',
  version: '1.0.0',
  scopes: ['w_candidates'],
  input: z.object({
    candidate_id: z.string().regex(/^\w+$/),
    /** Id of the member who moves the candidate. */
    member_id: z.string().min(1),
    /** Slug of the stage. */
    stage: z.string().min(1),
  }),
  output: z.object({ id: z.string(), stage: z.string() }),

  exec: async (svc, { candidate_id: id, member_id: memberId, stage }) => {
    try {
      await svc.post({
        endpoint: `/candidates/${id}/move`,
        data: { member_id: memberId, target_stage: stage },
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
