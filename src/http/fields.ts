import { z } from 'zod';
import { limits } from '#kernel/limits.ts';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';

/** Field types that several endpoints share (docs/reference/http.md#names-and-ids). */

const yes = new Set(['true', '1', 'yes', 'on', 'y', 'enabled']);
const no = new Set(['false', '0', 'no', 'off', 'n', 'disabled']);

/** Text without NUL and lone surrogates, which not every store and log preserves. */
export const text = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max, { abort: true })
    .refine((value) => !value.includes('\0') && value.isWellFormed(), 'Not valid Unicode text.');

const matching = (pattern: RegExp, max = 255) => z.string().regex(pattern).min(1).max(max);

export const providerName = matching(/^[a-zA-Z0-9_-]+$/).meta({ examples: ['affinity'] });
export const integrationKey = matching(/^[a-zA-Z0-9~:.@ _-]+$/).meta({ examples: ['crm'] });
export const connectionId = matching(/^[a-zA-Z0-9,.;:=+~[\]|@${}"'\\/_ -]+$/).meta({
  examples: ['acme-1'],
});
export const environmentName = matching(/^[a-z0-9_-]+$/).meta({ examples: ['staging'] });
export const modelName = matching(/^[A-Z][a-zA-Z0-9_-]+$/).meta({ examples: ['Contact'] });
/** Name of a sync, an action, a function or a variant. */
export const functionName = matching(/^[a-zA-Z0-9_-]+$/).meta({ examples: ['contacts'] });
/** Also `<integration>:<function>`, of an on-change function. */
export const subscriptionName = z
  .string()
  .min(1)
  .max(511)
  .regex(/^[a-zA-Z0-9~:.@ _-]+$/)
  .meta({ examples: ['warehouse'] });
export const displayName = text(1, 255).meta({ examples: ['A name'] });
/** `true/1/yes/on/y/enabled` and their opposites in any case, for queries and headers. */
export const flag = z
  .string()
  .transform((value, context) => {
    const word = value.toLowerCase();
    if (yes.has(word)) return true;
    if (no.has(word)) return false;
    context.addIssue({ code: 'custom', message: 'Send true or false.' });
    return z.NEVER;
  })
  .meta({ type: 'boolean' });

/** A list in a query, which may come as a single value. */
export const listOf = <T extends z.ZodType>(item: T) =>
  z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item));

/** A number in a query or a header. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, 'Send a whole number.')
    .transform(Number)
    .pipe(z.number().int().min(min).max(max))
    .meta({ type: 'integer', pattern: undefined, minimum: min, maximum: max });

/** Any JSON object; keys are data and are preserved. */
export const jsonObject = z
  .custom<JsonObject>(isJsonObject, 'Send an object.')
  .meta({ type: 'object' });

/**
 * A map whose keys are data. zod drops a key `__proto__`, and no map of the API needs one: it is refused, so that
 * nothing is dropped silently.
 */
export const mapOf = <K extends z.core.$ZodRecordKey, V extends z.core.SomeType>(
  key: K,
  value: V,
) =>
  z.preprocess(
    (input, context) => {
      if (isJsonObject(input) && Object.hasOwn(input, '__proto__')) {
        context.addIssue({
          code: 'custom',
          message: 'The key "__proto__" is not allowed.',
          path: ['__proto__'],
        });
      }
      return input;
    },
    z.record(key, value),
  );

const tagKey = /^[a-zA-Z][a-zA-Z0-9_\-./]*$/;

/** Up to 10 tags; keys are converted to lower case, and two that become equal are refused. */
export const tags = mapOf(z.string(), text(1, 255)).transform((input, context) => {
  const result: Record<string, string> = {};
  const refuse = (key: string, message: string) => {
    context.addIssue({ code: 'custom', message, path: [key] });
  };
  if (Object.keys(input).length > 10) refuse('', 'Send at most 10 tags.');
  for (const [key, value] of Object.entries(input)) {
    const lower = key.toLowerCase();
    if (!tagKey.test(key) || key.length > 64) refuse(key, 'The key of the tag is not valid.');
    else if (Object.hasOwn(result, lower)) refuse(key, 'Two tags differ only in case.');
    else if (lower === 'end_user_email' && !isEmail(value))
      refuse(key, 'The value is not an e-mail address.');
    else result[lower] = value;
  }
  return result;
});

function isEmail(value: string): boolean {
  return z.email().safeParse(value).success;
}

/** `end_user` in a request. */
export const endUserInput = z
  .strictObject({
    id: text(1, 255).describe('Id of the end user in the application.'),
    email: text(5, 255).optional(),
    display_name: text(0, 255).optional(),
    tags: tags.optional(),
  })
  .meta({ examples: [{ id: 'u1', email: 'ada@example.com', display_name: 'Ada' }] });

const isWebAddress = (value: string): boolean =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

const notWebAddress = 'The value is not a URL.';

/** `organization` of an end user, beside `end_user` in a request. */
export const organizationInput = z.strictObject({
  id: text(1, 255).describe('Id of the organization in the application.'),
  display_name: text(0, 255).optional(),
});

export const webAddress = text(1, 2048)
  .refine(isWebAddress, notWebAddress)
  .meta({ format: 'uri', examples: ['https://app.example.com/hooks'] });

/** Seconds before the second, third, … attempt of a webhook. */
export const retryWaits = z
  .array(
    z
      .number()
      .int()
      .min(1)
      .max(limits.webhookRetryWaitMaxMs / 1000),
  )
  .max(limits.webhookRetriesMax)
  .meta({ examples: [[3, 60, 3600]] });

/** A web address, or empty to clear it. The egress policy decides whether it may be reached. */
export const webhookUrl = text(0, 2048)
  .refine((value) => value === '' || isWebAddress(value), notWebAddress)
  .meta({ examples: ['https://app.example.com/hooks'] });
