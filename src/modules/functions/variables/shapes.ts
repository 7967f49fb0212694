import { z } from 'zod';

export const variableShape = z
  .strictObject({ name: z.string(), value: z.string() })
  .meta({ id: 'Variable', examples: [{ name: 'REGION', value: 'eu' }] });
