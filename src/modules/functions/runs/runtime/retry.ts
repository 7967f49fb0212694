import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { RetryDefinition } from '#modules/connections/providers/definition.ts';
import { patternOf } from '#modules/connections/providers/pattern.ts';
import type { HttpReply } from '#ports/http-client.ts';

/**
 * Whether a response is retried: statuses of the provider's definition, by default 401, 429 and 5xx, and those of the
 * call.
 */
export function isRetriedStatus(
  status: number,
  definition: RetryDefinition | undefined,
  retryOn: readonly number[],
): boolean {
  if (retryOn.includes(status)) return true;
  const listed = definition?.error_code;
  if (listed === undefined) return status === 401 || status === 429 || status >= 500;
  return listed.some((entry) => matches(status, entry));
}

/** `403`, `5xx` or `500-502`. */
function matches(status: number, entry: string): boolean {
  const text = entry.trim().toLowerCase();
  const range = /^(\d{3})-(\d{3})$/.exec(text);
  if (range !== null) return status >= Number(range[1]) && status <= Number(range[2]);
  return /^\dxx$/.test(text) ? String(status)[0] === text[0] : text === String(status);
}

/** Names of headers with the time of the next attempt: a time, or seconds. */
export interface RetryHeaders {
  readonly at?: readonly string[];
  readonly after?: readonly string[];
}

/**
 * How long to wait before the next attempt, in ms: from the headers of the call, then the provider's headers, then its
 * pattern in the body, then 3 s × 2^attempt. At most 10 minutes.
 * @param attempt from 0
 */
export function retryWaitMs(
  reply: HttpReply | null,
  rules: { readonly call: RetryHeaders; readonly provider: RetryDefinition | undefined },
  attempt: number,
  now: Instant,
): number {
  const fields =
    reply === null
      ? null
      : (headerWaitMs(reply, rules.call, now) ??
        headerWaitMs(reply, rules.provider ?? {}, now) ??
        bodyWaitMs(reply, rules.provider?.in_body, now));
  return Math.min(fields ?? limits.retryFirstWaitMs * 2 ** attempt, limits.retryWaitMaxMs);
}

/** The longest wait in the headers; null when there is none. */
function headerWaitMs({ headers }: HttpReply, names: RetryHeaders, now: Instant): number | null {
  const waits = [
    ...(names.at ?? []).map((name) => untilMs(headers[name.toLowerCase()], now)),
    ...(names.after ?? []).map((name) => secondsMs(headers[name.toLowerCase()])),
  ].filter((wait) => wait !== null);
  return waits.length === 0 ? null : Math.max(...waits);
}

function bodyWaitMs(
  reply: HttpReply,
  rule: RetryDefinition['in_body'],
  now: Instant,
): number | null {
  if (rule === undefined) return null;
  let found: unknown;
  try {
    found = JSON.parse(reply.body.toString('utf8'));
  } catch {
    return null;
  }
  for (const name of rule.path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return null;
    found = (found as Record<string, unknown>)[name];
  }
  if (typeof found !== 'string' && typeof found !== 'number') return null;
  const text =
    rule.value === undefined
      ? String(found)
      : patternOf(unslashed(rule.value)).exec(String(found))?.[1];
  return rule.strategy === 'at' ? untilMs(text, now) : secondsMs(text);
}

/** Some definitions write the pattern between slashes. */
const unslashed = (pattern: string): string => pattern.replace(/^\/(.*)\/[a-z]*$/, '$1');

function secondsMs(text: string | undefined): number | null {
  const seconds = Number(text?.trim() || NaN);
  return seconds > 0 ? seconds * 1000 : null;
}

/** A time in epoch seconds or milliseconds, or a date; null when it has passed. */
function untilMs(text: string | undefined, now: Instant): number | null {
  const value = text?.trim() ?? '';
  if (value === '') return null;
  const number = Number(value);
  // Epoch milliseconds have 13 digits from 2001 on; seconds get there in the year 5138.
  const at = Number.isNaN(number) ? Date.parse(value) : number < 1e11 ? number * 1000 : number;
  return at > now ? at - now : null;
}
