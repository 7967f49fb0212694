import { z } from 'zod';

export const probed = z.strictObject({
  result: z.string().meta({ examples: ['ok'] }),
  reasons: z.array(z.string()).optional(),
});
