import { z } from 'zod';
import { isRawInteger } from '#kernel/exact-json.ts';
import { limits } from '#kernel/limits.ts';
import type { Json } from '#kernel/stable-json.ts';

/** What a condition compares: never an object or a list. */
type Scalar = string | number | boolean | null;

const operators = {
  equals: 'scalar',
  not_equals: 'scalar',
  in: 'scalars',
  not_in: 'scalars',
  greater_than: 'number',
  less_than: 'number',
  starts_with: 'text',
  ends_with: 'text',
  contains: 'scalar',
  exists: 'nothing',
  not_exists: 'nothing',
} as const;
type Operator = keyof typeof operators;
const operatorNames = Object.keys(operators) as Operator[];

export interface Condition {
  /** A JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly op: Operator;
  readonly value?: Scalar | readonly Scalar[] | undefined;
}

/** Which webhooks an endpoint gets, by their bodies: those of which all conditions are true, or any. */
export interface ContentFilter {
  readonly match: 'all' | 'any';
  readonly conditions: readonly Condition[];
}

const pathPartsMax = 16;
const pathCharsMax = 512;
const escape = /~(?![01])/;

const scalar = z.union([
  z.string().max(limits.webhookFilterTextMax),
  z
    .number()
    .refine(
      (number) => !Number.isInteger(number) || Number.isSafeInteger(number),
      'Send an integer beyond 2^53 - 1 as the text of its digits.',
    ),
  z.boolean(),
  z.null(),
]);

const values = {
  scalar: { shape: scalar, fix: 'Send a text, a number, true, false or null.' },
  scalars: {
    shape: z.array(scalar).min(1).max(limits.webhookFilterValuesMax),
    fix: `Send a list of 1 to ${limits.webhookFilterValuesMax} texts, numbers, true, false or null.`,
  },
  number: { shape: z.number(), fix: 'Send a number.' },
  text: {
    shape: z.string().min(1).max(limits.webhookFilterTextMax),
    fix: `Send a text of 1 to ${limits.webhookFilterTextMax} characters.`,
  },
  nothing: { shape: z.undefined(), fix: 'This operator takes no value.' },
} as const;

const pathShape = z
  .string()
  .max(pathCharsMax)
  .superRefine((path, context) => {
    const refuse = (message: string): void => context.addIssue({ code: 'custom', message });
    if (!path.startsWith('/')) refuse('Send a JSON Pointer, such as /responseResults/added.');
    else if (path.split('/').length - 1 > pathPartsMax) refuse(`At most ${pathPartsMax} parts.`);
    else if (escape.test(path)) refuse('Write ~ as ~0 and / within a name as ~1.');
  })
  .describe('JSON Pointer into the body, such as `/responseResults/added`.');

const conditionShape = z
  .strictObject({
    path: pathShape,
    op: z.enum(operatorNames).describe('How the value at the path is compared.'),
    value: z
      .union([scalar, z.array(scalar).max(limits.webhookFilterValuesMax)])
      .optional()
      .describe('Compared with it; a list for `in` and `not_in`, absent for `exists`.'),
  })
  .superRefine(({ op, value }, context) => {
    const { shape, fix: message } = values[operators[op]];
    if (!shape.safeParse(value).success) {
      context.addIssue({ code: 'custom', message, path: ['value'] });
    }
  });

export const filterShape = z.strictObject({
  match: z.enum(['all', 'any']).describe('Whether all conditions have to be true, or one of them.'),
  conditions: z
    .array(conditionShape)
    .min(1)
    .max(limits.webhookFilterConditionsMax)
    .describe('Conditions on values of the body.'),
});

/** Linear in the length of the compared texts: no condition searches within a text. */
export function matchesFilter({ match, conditions }: ContentFilter, body: Json): boolean {
  const isTrue = (condition: Condition): boolean => holds(condition, valueAt(body, condition.path));
  return match === 'all' ? conditions.every(isTrue) : conditions.some(isTrue);
}

/** Undefined: there is none. */
function valueAt(body: Json, path: string): Json | undefined {
  let value: unknown = body;
  for (const part of path.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null || isRawInteger(value)) return undefined;
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!Object.hasOwn(value, name) || (Array.isArray(value) && name === 'length'))
      return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value as Json | undefined;
}

/** A value that does not exist is only unequal to all values. */
function holds({ op, value: wanted }: Condition, found: Json | undefined): boolean {
  switch (op) {
    case 'exists':
      return found !== undefined;
    case 'not_exists':
      return found === undefined;
    case 'equals':
      return found !== undefined && scalarOf(found) === wanted;
    case 'not_equals':
      return found === undefined || scalarOf(found) !== wanted;
    case 'in':
      return found !== undefined && isAmong(wanted, found);
    case 'not_in':
      return found === undefined || !isAmong(wanted, found);
    case 'greater_than':
      return typeof found === 'number' && typeof wanted === 'number' && found > wanted;
    case 'less_than':
      return typeof found === 'number' && typeof wanted === 'number' && found < wanted;
    case 'starts_with':
      return typeof found === 'string' && typeof wanted === 'string' && found.startsWith(wanted);
    case 'ends_with':
      return typeof found === 'string' && typeof wanted === 'string' && found.endsWith(wanted);
    case 'contains':
      return Array.isArray(found) && found.some((one: Json) => scalarOf(one) === wanted);
  }
}

const isAmong = (list: Condition['value'], found: Json): boolean =>
  Array.isArray(list) && list.some((one) => one === scalarOf(found));

/** An integer that a number cannot hold is the text of its digits. */
const scalarOf = (value: Json): Json => (isRawInteger(value) ? JSON.stringify(value) : value);
