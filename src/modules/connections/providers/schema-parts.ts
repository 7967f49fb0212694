import { z } from 'zod';
import type { Json } from '#kernel/stable-json.ts';

/** The authentication modes (docs/reference/auth-modes.md#overview). */
export const authModes = [
  'OAUTH1',
  'OAUTH2',
  'OAUTH2_CC',
  'BASIC',
  'API_KEY',
  'APP_STORE',
  'CUSTOM',
  'APP',
  'NONE',
  'TBA',
  'JWT',
  'BILL',
  'TWO_STEP',
  'SIGNATURE',
  'MCP_OAUTH2',
  'AWS_SIGV4',
] as const;

/** Parts of a value by which providers name an account (`take` of a definition). */
export const valueParts = [
  'origin',
  'first-label',
  'sha256',
  'calendar',
  'calendar-sha256',
] as const;

export const text = z.string().min(1);
export const texts = z.array(text);
/** An image of at most 16 KB. */
export const svg = z
  .string()
  .max(16_384)
  .regex(/^\s*<svg[\s>][^]*<\/svg>\s*$/);

/** Keys are data. The zod parser drops a key `__proto__`; validation refuses it first. */
const dataKey = z
  .string()
  .regex(/^(?!__proto__$)/)
  .describe('any name but `__proto__`');
export const mapOf = <V extends z.ZodType>(value: V) => z.record(dataKey, value);

export const textMap = mapOf(z.string());
/** Parameters of calls may be nested; their leaves are interpolated at call time. */
export const params = mapOf(z.custom<Json>());

export const optional = <T extends z.ZodType>(schema: T, description: string) =>
  schema.optional().describe(description);

/** The output of a schema, read-only at every level. Its optional fields are absent, never undefined. */
export type SchemaOutput<S extends z.ZodType> = DeepFrozen<z.output<S>>;
type DeepFrozen<T> = T extends object
  ? {
      readonly [Name in keyof T]: [Json] extends [T[Name]]
        ? T[Name]
        : DeepFrozen<Exclude<T[Name], undefined>>;
    }
  : T;
