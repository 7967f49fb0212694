import { z } from 'zod';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { FieldSchema, Provider } from '../../providers/definition.ts';
import { fieldProblem } from '../../providers/field-check.ts';
import { epochMs } from './expiry.ts';

/** ISO text, epoch milliseconds, or epoch seconds; as ISO text. */
export const date = z.union([z.string().min(1), z.number()]).transform((value, context): string => {
  const at = typeof value === 'number' ? epochMs(value) : Date.parse(value);
  if (Number.isFinite(at) && Math.abs(at) <= 8.64e15) return new Date(at).toISOString();
  context.issues.push({ code: 'custom', message: 'The value is not a date.', input: value });
  return z.NEVER;
});

/** A shape whose output has no undefined value. */
export const strict = (shape: z.ZodRawShape): z.ZodType<JsonObject> =>
  z.strictObject(shape).transform(present);

export const present = (value: Record<string, unknown>): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as JsonObject;

const fieldBytesMax = 10_000;

/**
 * The provider's own credential fields (docs/reference/provider-format.md#field-schemas): required unless optional or
 * automated, pattern, format, enum. `visible_when` makes a field required only when another has its value.
 */
export function providerFields(
  { credentials = {} }: Provider,
  more: z.ZodRawShape = {},
): z.ZodType<JsonObject> {
  const shape = Object.fromEntries(
    Object.entries(credentials).map(([name, field]) => [name, fieldShape(field)]),
  );
  return z
    .strictObject({ ...shape, ...more })
    .superRefine((value: Record<string, unknown>, context) => {
      for (const [name, field] of Object.entries(credentials)) {
        if (value[name] === undefined && isNeeded(field, value)) {
          context.addIssue({ code: 'custom', message: 'The field is required.', path: [name] });
        }
      }
    })
    .transform((value) => withoutEmpty(present(value), credentials));
}

/** An optional field that is left empty is absent, so that a template of it does not resolve. */
const withoutEmpty = (
  values: JsonObject,
  fields: Readonly<Record<string, FieldSchema>>,
): JsonObject =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) =>
        value !== '' || !Object.hasOwn(fields, name) || fields[name]?.optional !== true,
    ),
  );

function fieldShape(field: FieldSchema): z.ZodType {
  return z
    .string()
    .max(fieldBytesMax)
    .superRefine((value, context) => {
      if (value === '' && field.optional === true) return;
      const problem = value === '' ? 'The field is required.' : fieldProblem(field, value);
      if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    })
    .optional();
}

function isNeeded(field: FieldSchema, values: Record<string, unknown>): boolean {
  if (field.optional === true || field.automated === true) return false;
  const { visible_when: condition } = field;
  return condition === undefined || values[condition.field] === condition.equals;
}

/** The same shape with `type` before it, as an import sends it; the output has no `type`. */
export const typed = (
  type: string,
  shapeWith: (more: z.ZodRawShape) => z.ZodType<JsonObject>,
): z.ZodType<JsonObject> => shapeWith({ type: z.literal(type) });
