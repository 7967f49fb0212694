import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Asks the provider once, or as often as it is told to',
  version: '1.0.0',
  input: z.object({ endpoint: z.string(), retries: z.number().optional() }),
  output: z.unknown(),
  exec: async (svc, { endpoint, retries = 0 }) => {
    const { status, data } = await svc.get<object>({ endpoint, retries });
    return { status, data };
  },
});

export default action;
