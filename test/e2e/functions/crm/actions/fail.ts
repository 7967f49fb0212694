import { createAction } from 'svc';
import { z } from 'zod';

const input = z.object({
  how: z.enum(['action-error', 'exception', 'too-large', 'fits']),
  payload: z.unknown().optional(),
});

const action = createAction({
  description: 'Fails in the way it is asked to',
  version: '1.0.0',
  input,
  output: z.unknown(),
  exec: async (svc, { how, payload }) => {
    const quotes = 2;
    const outputBytesMax = 2 * 1024 ** 2;
    switch (how) {
      case 'action-error':
        throw new svc.ActionError(payload);
      case 'exception':
        throw new RangeError('nothing here is in range');
      case 'too-large':
        return 'x'.repeat(outputBytesMax - quotes + 1);
      case 'fits':
        return 'x'.repeat(outputBytesMax - quotes);
    }
  },
});

export default action;
