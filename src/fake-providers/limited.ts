import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import type { Provider, RetryDefinition } from '#modules/connections/providers/definition.ts';
import { patternOf } from '#modules/connections/providers/pattern.ts';
import type { Answer } from './exchange.ts';
import { withPath } from './with-path.ts';

/**
 * Seconds that a limit lasts: longer than the first wait of a caller that does not read it (3 s), so that its retry
 * comes too early.
 */
const limitSeconds = 4;

/** By how much a stated wait is longer than the limit: the timers of the caller are not those of the provider. */
const roundedUpMs = 50;

/** How the provider reports that a limit was reached, and until when it lasts. */
export interface ReportedLimit {
  readonly answer: Answer;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

type LimitRule = NonNullable<RetryDefinition['limited']>[number];

/**
 * Every way in which the definition says that a limit is reported; none where it says nothing. A limit begins when it is
 * taken.
 * @throws Error where no response can be made of what it says
 */
export function* reportedLimits(
  { proxy }: Provider,
  seconds = limitSeconds,
): Generator<ReportedLimit> {
  const { retry } = proxy ?? {};
  if (retry === undefined) return;
  const statuses = textsOf(retry.error_code);
  const status = statuses.includes('429') ? '429' : (statuses[0] ?? '429');
  yield limitOf(retry, seconds, { status: statusOf(status) });
  for (const rule of retry.limited ?? []) yield limitOf(retry, seconds, answerOf(rule));
}

/** As `reportedLimits`, the first of them; `429` with `Retry-After` where the definition says nothing. */
export function reportedLimit(provider: Provider, seconds: number): ReportedLimit {
  const [limit] = reportedLimits(provider, seconds);
  return limit ?? limitOf({}, seconds, { status: 429 });
}

function limitOf(
  retry: RetryDefinition,
  seconds: number,
  { status, headers = {}, body = {} }: Partial<Answer> & { readonly status: number },
): ReportedLimit {
  const now = systemClock.now();
  const end = now + seconds * 1000;
  // A time is stated in whole seconds; a wait is rounded up.
  const endsAt = retry.at === undefined ? end - roundedUpMs : Math.ceil(end / 1000) * 1000;
  const after = Math.ceil((endsAt - now) / 1000);
  const stated: Record<string, string> = {};
  for (const name of textsOf(retry.after)) {
    stated[name] = String(/-ms$/i.test(name) ? after * 1000 : after);
  }
  for (const name of textsOf(retry.at)) stated[name] = String(endsAt / 1000);
  if (retry.remaining !== undefined) stated[retry.remaining] = '0';
  const content = { ...(body as JsonObject) };
  const { in_body: inBody } = retry;
  if (inBody !== undefined) {
    const wait = inBody.strategy === 'at' ? new Date(endsAt).toISOString() : String(after);
    withPath(content, inBody.path, textWith(wait, inBody.value));
  }
  // Where the definition names no header, the common one counts.
  const isStated = textsOf(retry.after).length + textsOf(retry.at).length > 0;
  if (!isStated && inBody === undefined) stated['retry-after'] = String(after);
  const answer = {
    status,
    headers: { ...headers, ...stated },
    body: Array.isArray(body) ? body : content,
  };
  return { answer, endsAt };
}

function answerOf(rule: LimitRule): Partial<Answer> & { readonly status: number } {
  const value = rule.values?.[0] ?? (rule.contains === undefined ? '1' : `The ${rule.contains}.`);
  const status = statusOf(String(rule.statuses[0]));
  if (rule.header !== undefined) return { status, headers: { [rule.header]: value } };
  const path = (rule.body ?? '').split('.');
  return { status, body: valueUnder(path, value) as JsonObject };
}

/** The value at a path, in which `*` is an item of a list. */
function valueUnder([name, ...rest]: readonly string[], value: string): Json {
  if (name === undefined) return /^\d+$/.test(value) ? Number(value) : value;
  return name === '*' ? [valueUnder(rest, value)] : { [name]: valueUnder(rest, value) };
}

const textsOf = (stated: unknown): string[] =>
  stated === undefined ? [] : [stated].flat().map(String);

/** A status of `403`, `5xx` or `500-502`. */
const statusOf = (text: string): number => Number(text.slice(0, 3).replaceAll('x', '0')) || 429;

const sentences = [
  (wait: string) => wait,
  (wait: string) => `${wait} seconds`,
  (wait: string) => `${wait}s`,
  (wait: string) => `retry after ${wait} seconds`,
  (wait: string) => `Retry after ${wait} seconds.`,
  (wait: string) => `Try again in ${wait} seconds.`,
  (wait: string) => `Please wait ${wait} seconds.`,
  (wait: string) => `Expected available in ${wait} seconds.`,
];

function textWith(wait: string, pattern: string | undefined): string {
  if (pattern === undefined) return wait;
  const wanted = patternOf(pattern.replace(/^\/(.*)\/[a-z]*$/, '$1'));
  const found = sentences
    .map((sentence) => sentence(wait))
    .find((text) => wanted.exec(text)?.[1] === wait);
  if (found === undefined) throw new Error(`proxy.retry.in_body.value: no text fits ${pattern}`);
  return found;
}
