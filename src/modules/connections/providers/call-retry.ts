import { bodyText } from '#kernel/body-text.ts';
import { parseExactJson } from '#kernel/exact-json.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { RetryDefinition } from '#modules/connections/providers/definition.ts';
import { patternOf } from '#modules/connections/providers/pattern.ts';
import type { HttpReply } from '#ports/http-client.ts';

export type ReplyHead = Pick<HttpReply, 'status' | 'headers'>;
type LimitRule = NonNullable<RetryDefinition['limited']>[number];

/** Headers with the calls that are left, where the definition names none. */
const commonRemaining = ['x-ratelimit-remaining', 'x-rate-limit-remaining', 'ratelimit-remaining'];
/** Headers with the reset of the limit, where neither the call nor the definition names one. */
const commonResets: RetryHeaders = {
  at: ['x-ratelimit-reset', 'x-rate-limit-reset', 'ratelimit-reset'],
};

/**
 * Whether status and headers alone ask for a retry: statuses of the provider's definition, by default 401, 429 and 5xx,
 * those of the call, and the provider's limits under other statuses.
 */
export function isRetriedHead(
  head: ReplyHead,
  definition: RetryDefinition | undefined,
  retryOn: readonly number[],
): boolean {
  const { status } = head;
  const isListed = status >= 300 && isListedStatus(status, definition, retryOn);
  return isListed || isLimitHead(head, definition);
}

function isListedStatus(
  status: number,
  definition: RetryDefinition | undefined,
  retryOn: readonly number[],
): boolean {
  if (retryOn.includes(status)) return true;
  const listed = definition?.error_code;
  if (listed === undefined) return status === 401 || status === 429 || status >= 500;
  return listed.some((entry) => matches(status, entry));
}

/** As `isRetriedHead`, of a complete response. */
export const isRetried = (
  reply: HttpReply,
  definition: RetryDefinition | undefined,
  retryOn: readonly number[],
): boolean => isRetriedHead(reply, definition, retryOn) || isLimitBody(reply, definition);

/** Whether the body of a response with this status may say that a limit was reached. */
export const needsBody = (status: number, definition: RetryDefinition | undefined): boolean =>
  rulesOf(status, definition).some(({ body }) => body !== undefined);

function isLimitHead(head: ReplyHead, definition: RetryDefinition | undefined): boolean {
  if (head.status === 403 && remainingOf(head, definition) === 0) return true;
  return rulesOf(head.status, definition).some(
    (rule) => rule.header !== undefined && matchesHeader(rule, head),
  );
}

const isLimitBody = (reply: HttpReply, definition: RetryDefinition | undefined): boolean =>
  bodyRuleOf(reply, definition) !== undefined;

function bodyRuleOf(
  reply: HttpReply,
  definition: RetryDefinition | undefined,
): LimitRule | undefined {
  const rules = rulesOf(reply.status, definition).filter(({ body }) => body !== undefined);
  if (rules.length === 0) return undefined;
  const body = jsonOf(reply);
  return rules.find((rule) =>
    valuesAt(body, (rule.body ?? '').split('.')).some((value) => matchesValue(rule, value)),
  );
}

const rulesOf = (status: number, definition: RetryDefinition | undefined): LimitRule[] =>
  (definition?.limited ?? []).filter(({ statuses }) =>
    statuses.some((entry) => matches(status, entry)),
  );

function matchesHeader(rule: LimitRule, { headers }: ReplyHead): boolean {
  const value = headers[rule.header?.toLowerCase() ?? ''];
  if (value === undefined) return false;
  return matchesValue(rule, value.trim());
}

/** Without `values` and `contains` any value matches. */
function matchesValue({ values, contains }: LimitRule, value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  const text = String(value);
  if (values === undefined && contains === undefined) return true;
  if (values?.includes(text) === true) return true;
  return contains !== undefined && text.toLowerCase().includes(contains.toLowerCase());
}

/** The values at a dotted path, where `*` stands for each item of a list. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  const [name, ...rest] = path;
  if (name === undefined) return [value];
  if (name === '*') {
    return Array.isArray(value) ? value.flatMap((item) => valuesAt(item, rest)) : [];
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return [];
  return valuesAt((value as Record<string, unknown>)[name], rest);
}

/** `403`, `5xx` or `500-502`. */
function matches(status: number, entry: string): boolean {
  const text = entry.trim().toLowerCase();
  const range = /^(\d{3})-(\d{3})$/.exec(text);
  if (range !== null) return status >= Number(range[1]) && status <= Number(range[2]);
  return /^\dxx$/.test(text) ? String(status)[0] === text[0] : text === String(status);
}

/** The calls that are left, by the header of the definition; null when the response does not state it. */
function remainingOf(
  { headers }: ReplyHead,
  definition: RetryDefinition | undefined,
): number | null {
  const names = definition?.remaining === undefined ? commonRemaining : [definition.remaining];
  for (const name of names) {
    const text = headers[name.toLowerCase()]?.trim() ?? '';
    if (/^\d+$/.test(text)) return Number(text);
  }
  return null;
}

/** Names of headers with the time of the next attempt: a time, or seconds. */
export interface RetryHeaders {
  readonly at?: readonly string[];
  readonly after?: readonly string[];
}

/**
 * How long to wait before the next attempt, in ms: from the headers of the call, then the provider's headers, then its
 * pattern in the body, then `Retry-After`, then 3 s × 2^attempt. At most 10 minutes. A header with the reset of a limit
 * counts only where the limit is what failed.
 * @param attempt from 0
 */
export function retryWaitMs(
  reply: HttpReply | null,
  rules: { readonly call: RetryHeaders; readonly provider: RetryDefinition | undefined },
  attempt: number,
  now: Instant,
): number {
  const replyWait = reply === null ? null : replyWaitMs(reply, rules, now);
  return Math.min(replyWait ?? limits.retryFirstWaitMs * 2 ** attempt, limits.retryWaitMaxMs);
}

/**
 * How long no further call makes sense: after a limit as long as a retry of it waits, and after a response that says
 * that no call is left until the reset. Null: further calls may be sent.
 */
export function reportedPauseMs(
  reply: HttpReply,
  definition: RetryDefinition | undefined,
  now: Instant,
): number | null {
  const remaining = remainingOf(reply, definition);
  const isLimit =
    isLimitHead(reply, definition) ||
    bodyRuleOf(reply, definition) !== undefined ||
    (reply.status === 429 && (remaining ?? 0) === 0);
  const rules = { call: {}, provider: definition };
  if (isLimit) return retryWaitMs(reply, rules, 0, now);
  if (remaining !== 0) return null;
  const ms = resetMs(reply, definition, now);
  return ms === null ? null : Math.min(ms, limits.retryWaitMaxMs);
}

/** Until the reset that the headers name. */
function resetMs(
  reply: HttpReply,
  definition: RetryDefinition | undefined,
  now: Instant,
): number | null {
  const isNamed = definition?.at !== undefined || definition?.after !== undefined;
  return headerWaitMs(reply, isNamed ? definition : commonResets, now);
}

function replyWaitMs(
  reply: HttpReply,
  { call, provider }: Parameters<typeof retryWaitMs>[1],
  now: Instant,
): number | null {
  const bodyRule = bodyRuleOf(reply, provider);
  // With calls left another limit failed than the one whose reset the headers state.
  const isLimit =
    (remainingOf(reply, provider) ?? 0) === 0 &&
    (reply.status === 429 || bodyRule !== undefined || isLimitHead(reply, provider));
  const usable = (names: RetryHeaders): RetryHeaders =>
    isLimit ? names : { after: (names.after ?? []).filter(isRetryAfter) };
  // Retry-After is read always: a definition that names it says nothing of resets.
  const isNamed = [call, provider].some((names) =>
    [...(names?.at ?? []), ...(names?.after ?? [])].some((name) => !isRetryAfter(name)),
  );
  return (
    headerWaitMs(reply, usable(call), now) ??
    headerWaitMs(reply, usable(provider ?? {}), now) ??
    bodyWaitMs(reply, provider?.in_body, now) ??
    headerWaitMs(reply, { after: ['retry-after'] }, now) ??
    (isLimit && !isNamed ? headerWaitMs(reply, commonResets, now) : null) ??
    (bodyRule?.wait === undefined ? null : bodyRule.wait * 1000)
  );
}

/** `Retry-After` is about the response that has it (RFC 9110 section 10.2.3), whatever failed. */
const isRetryAfter = (name: string): boolean => /^retry-after(-ms)?$/i.test(name);

/** The longest wait in the headers; null when there is none. */
function headerWaitMs({ headers }: HttpReply, names: RetryHeaders, now: Instant): number | null {
  const waits = [
    ...(names.at ?? []).map((name) => untilMs(headers[name.toLowerCase()], now)),
    ...(names.after ?? []).map((name) => {
      const text = headers[name.toLowerCase()];
      return afterMs(text, /-ms$/i.test(name) ? 1 : 1000, now);
    }),
  ].filter((wait) => wait !== null);
  return waits.length === 0 ? null : Math.max(...waits);
}

function bodyWaitMs(
  reply: HttpReply,
  rule: RetryDefinition['in_body'],
  now: Instant,
): number | null {
  if (rule === undefined) return null;
  const [found] = valuesAt(jsonOf(reply), rule.path.split('.'));
  if (typeof found !== 'string' && typeof found !== 'number') return null;
  const text =
    rule.value === undefined
      ? String(found)
      : patternOf(unslashed(rule.value)).exec(String(found))?.[1];
  return rule.strategy === 'at' ? untilMs(text, now) : afterMs(text, 1000, now);
}

/** Undefined when it is not JSON. */
function jsonOf({ body, headers }: HttpReply): unknown {
  try {
    return parseExactJson(bodyText(body, headers['content-type']));
  } catch {
    return undefined;
  }
}

/** Some definitions write the pattern between slashes. */
const unslashed = (pattern: string): string => pattern.replace(/^\/(.*)\/[a-z]*$/, '$1');

/** No wait is three years long, and no time of a response lies before 1973: what is below is a wait, above a time. */
const firstTime = 1e8;

/** A wait, or a time where the value cannot be a wait; null when it has passed. */
function afterMs(text: string | undefined, unitMs: number, now: Instant): number | null {
  const value = text?.trim() ?? '';
  const number = value === '' ? NaN : Number(value);
  if (Number.isNaN(number) || number >= firstTime) return timeMs(value, now);
  return number > 0 ? number * unitMs : null;
}

/** A time, or seconds where the value cannot be a time; null when it has passed. */
function untilMs(text: string | undefined, now: Instant): number | null {
  const value = text?.trim() ?? '';
  const number = value === '' ? NaN : Number(value);
  if (number < firstTime) return number > 0 ? number * 1000 : null;
  return timeMs(value, now);
}

/** Epoch seconds or milliseconds, or a date; null when it has passed or is none of these. */
function timeMs(value: string, now: Instant): number | null {
  const number = value === '' ? NaN : Number(value);
  // Epoch milliseconds have 13 digits from 2001 on; seconds get there in the year 5138.
  const at = Number.isNaN(number) ? Date.parse(value) : number < 1e11 ? number * 1000 : number;
  return at > now ? at - now : null;
}
