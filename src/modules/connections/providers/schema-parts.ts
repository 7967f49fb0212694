import { z } from 'zod';

export const text = z.string().min(1);
export const texts = z.array(text);

/** Keys are data. The zod parser drops a key `__proto__`; validation refuses it first. */
const dataKey = z
  .string()
  .regex(/^(?!__proto__$)/)
  .describe('any name but `__proto__`');
export const mapOf = <V extends z.ZodType>(value: V) => z.record(dataKey, value);

export const optional = <T extends z.ZodType>(schema: T, description: string) =>
  schema.optional().describe(description);
