import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Answers its input',
  version: '1.0.0',
  input: z.unknown(),
  output: z.unknown(),
  exec: async (_svc, input) => input,
});

export default action;
