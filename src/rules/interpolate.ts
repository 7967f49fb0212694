import { createHash, createHmac, createPublicKey, sign } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { atPath } from '#kernel/json-path.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { dayMs, hourMs, minuteMs, secondMs, isoMillis, type Instant } from '#kernel/time.ts';
import { awsAuthorization, awsTime } from './aws-signature.ts';
import { callValue, isCallToken, type OutgoingCall } from './outgoing-call.ts';
import { privateKeyOf, unusableKey } from './private-key.ts';

/** Values of the tokens of a template (docs/reference/provider-format.md#templates). */
export interface TemplateValues {
  readonly connectionConfig: JsonObject;
  readonly metadata: JsonObject;
  /** Opened credentials of the connection; null for mode NONE. */
  readonly credentials: JsonObject | null;
  /** Client of the integration. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** `now` and `random` are the same in all values of one request. */
  readonly now: Instant;
  readonly random: string;
  /** Further values by name: `token`, `refresh_token`, `stepN.path`, `assertionOption.x`. */
  readonly extra?: JsonObject;
  /** The outgoing call, for headers that sign it; absent where none does. */
  readonly call?: OutgoingCall | undefined;
}

type Part = { readonly text: string } | { readonly token: string };
type Encode = (value: string, before: string) => string;

const plainTokens = [
  'apiKey',
  'username',
  'password',
  'accessToken',
  'clientId',
  'clientSecret',
  'random',
] as const;
type PlainToken = (typeof plainTokens)[number];
const groups = ['connectionConfig', 'metadata', 'credentials'] as const;
const asItIs: Encode = (value) => value;

/** The template with its tokens replaced; null when a token of every alternative is unresolved. */
export function interpolate(template: string, values: TemplateValues): string | null {
  return firstResolved(template, values, asItIs);
}

/**
 * As `interpolate`, for a URL: values are percent-encoded, so that none can change the path's shape. A value at the
 * very start is scheme and host and stays unencoded; a host may have a port.
 */
export function interpolateUrl(template: string, values: TemplateValues): string | null {
  return firstResolved(template, values, (value, before) => {
    if (before === '') return value;
    const isHost = /^https?:\/\/[^/?#]*$/i.test(before);
    if (isHost && /^[^:]+:\d{1,5}$/.test(value)) {
      return value.split(':').map(encodeURIComponent).join(':');
    }
    return encodeURIComponent(value);
  });
}

/** Interpolates every string leaf; leaves that cannot be resolved are left out. */
export function interpolateJson(template: Json, values: TemplateValues): Json | undefined {
  if (typeof template === 'string') return interpolate(template, values) ?? undefined;
  if (Array.isArray(template)) {
    return (template as readonly Json[])
      .map((item) => interpolateJson(item, values))
      .filter((item) => item !== undefined);
  }
  if (!isJsonObject(template)) return template;
  const leaves = Object.entries(template).flatMap(([key, item]) => {
    const value = interpolateJson(item, values);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(leaves);
}

/** Names of the tokens of a template, functions by their name with `()`; for checks of the catalog. */
export function tokensOf(template: string): string[] {
  return parse(template).flatMap((part) => {
    if (!('token' in part)) return [];
    const call = asCall(part.token);
    return call ? [`${call.name}()`, ...tokensOf(call.argument)] : [part.token];
  });
}

/** Whether the service has a value for the token. */
export function isKnownToken(token: string): boolean {
  if (token.endsWith('()')) return Object.hasOwn(templateFunctions, token.slice(0, -2));
  if (isPlain(token) || isCallToken(token) || parseNow(token) !== null) return true;
  return groups.some((group) => token.startsWith(`${group}.`) && token.length > group.length + 1);
}

function firstResolved(template: string, values: TemplateValues, encode: Encode): string | null {
  for (const alternative of alternativesOf(template)) {
    const resolved = resolveAll(alternative, values, encode);
    if (resolved !== null) return resolved;
  }
  return null;
}

function resolveAll(parts: readonly Part[], values: TemplateValues, encode: Encode): string | null {
  let result = '';
  for (const part of parts) {
    if ('text' in part) {
      result += part.text;
      continue;
    }
    const value = valueOf(part.token, values);
    if (value === null) return null;
    result += encode(value, result);
  }
  return result;
}

/** Each call fills the same few templates. */
const existing = new LRUCache<string, readonly (readonly Part[])[]>({ max: 1000 });

function alternativesOf(template: string): readonly (readonly Part[])[] {
  const parsed = existing.get(template);
  if (parsed !== undefined) return parsed;
  const read = readAlternatives(template);
  existing.set(template, read);
  return read;
}

/** Splits at `||` outside of tokens; white space around it is not part of the value. */
function readAlternatives(template: string): Part[][] {
  const alternatives: Part[][] = [[]];
  for (const part of parse(template)) {
    if ('token' in part) {
      alternatives.at(-1)?.push(part);
      continue;
    }
    part.text.split('||').forEach((text, index) => {
      if (index > 0) alternatives.push([]);
      if (text !== '') alternatives.at(-1)?.push({ text });
    });
  }
  return alternatives.length === 1 ? alternatives : alternatives.map(trimmed);
}

function trimmed(parts: readonly Part[]): Part[] {
  return parts
    .map((part, index) => {
      if ('token' in part) return part;
      const start = index === 0 ? part.text.trimStart() : part.text;
      return { text: index === parts.length - 1 ? start.trimEnd() : start };
    })
    .filter((part) => 'token' in part || part.text !== '');
}

/** Alternating text and tokens; braces inside a token are balanced. An unclosed token is text. */
function parse(template: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  while (at < template.length) {
    const start = template.indexOf('${', at);
    const end = start < 0 ? -1 : closingBrace(template, start + 2);
    if (end < 0) break;
    if (start > at) parts.push({ text: template.slice(at, start) });
    parts.push({ token: template.slice(start + 2, end).trim() });
    at = end + 1;
  }
  if (at < template.length) parts.push({ text: template.slice(at) });
  return parts;
}

function closingBrace(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function asCall(token: string): { name: string; argument: string } | null {
  const match = /^(\w+)\((.*)\)$/s.exec(token);
  return match ? { name: match[1] ?? '', argument: match[2] ?? '' } : null;
}

function isPlain(token: string): token is PlainToken {
  return (plainTokens as readonly string[]).includes(token);
}

function valueOf(token: string, values: TemplateValues): string | null {
  const call = asCall(token);
  if (call) {
    const fn = Object.hasOwn(templateFunctions, call.name)
      ? templateFunctions[call.name]
      : undefined;
    return fn === undefined ? null : applied(fn, call.argument, values);
  }
  if (isPlain(token)) return plainValue(token, values);
  const group = groups.find((name) => token.startsWith(`${name}.`));
  if (group) return asText(atPath(values[group], token.slice(group.length + 1)));
  return (
    asText(atPath(values.extra, token)) ??
    callValue(token, values.call) ??
    formatNow(token, values.now)
  );
}

/** The argument is split before it is filled: commas of values are not separators. */
function applied(fn: TemplateFunction, argument: string, values: TemplateValues): string | null {
  if (fn.split === 'whole') {
    const text = interpolate(argument, values);
    return text === null ? null : fn.apply([text], values);
  }
  const parts = splitAtCommas(argument);
  if (fn.split === 'last' && parts.length < 2) return null;
  const templates =
    fn.split === 'last' ? [parts.slice(0, -1).join(','), parts.at(-1) ?? ''] : parts;
  const args = templates.map((template) => interpolate(template.trim(), values));
  return args.includes(null) ? null : fn.apply(args as string[], values);
}

/** At commas outside of tokens. */
function splitAtCommas(argument: string): string[] {
  const parts: string[] = [];
  let open = '';
  for (const part of parse(argument)) {
    const pieces = 'token' in part ? [`\${${part.token}}`] : part.text.split(',');
    const last = pieces.pop() ?? '';
    for (const piece of pieces) {
      parts.push(open + piece);
      open = '';
    }
    open += last;
  }
  return [...parts, open];
}

function plainValue(token: PlainToken, values: TemplateValues): string | null {
  const { credentials } = values;
  switch (token) {
    case 'random':
      return values.random;
    case 'clientId':
    case 'clientSecret':
      return values[token] ?? null;
    case 'accessToken':
      return asText(atPath(credentials, 'access_token')) ?? asText(atPath(credentials, 'token'));
    case 'apiKey':
    case 'username':
    case 'password':
      return asText(atPath(credentials, token));
  }
}

function asText(value: Json | undefined): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: secondMs,
  m: minuteMs,
  h: hourMs,
  d: dayMs,
};

function parseNow(token: string): { shiftMs: number; format: string | null } | null {
  const match = /^now(?:([+-]\d+):(ms|[smhd])(?:econds?|inutes?|ours?|ays?)?)?(?::(.+))?$/.exec(
    token,
  );
  if (!match) return null;
  const shiftMs = Number(match[1] ?? 0) * (unitsMs[match[2] ?? 'ms'] ?? 1);
  return { shiftMs, format: match[3] ?? null };
}

/** `now`, `now:FORMAT`, `now-5:minutes:FORMAT`: ISO 8601 without a format, always UTC. */
function formatNow(token: string, now: Instant): string | null {
  const offset = parseNow(token);
  if (!offset) return null;
  const at = now + offset.shiftMs;
  const iso = isoMillis(at);
  if (offset.format === null) return iso;
  const fields: Readonly<Record<string, string>> = {
    YYYY: iso.slice(0, 4),
    MM: iso.slice(5, 7),
    DD: iso.slice(8, 10),
    HH: iso.slice(11, 13),
    mm: iso.slice(14, 16),
    ss: iso.slice(17, 19),
    SSS: iso.slice(20, 23),
    X: String(Math.floor(at / 1000)),
    x: String(at),
  };
  return offset.format.replace(/YYYY|MM|DD|HH|mm|SSS|ss|X|x/g, (name) => fields[name] ?? name);
}

interface FunctionValues {
  readonly now: Instant;
  readonly call?: OutgoingCall | undefined;
}

/** A function of templates (docs/reference/provider-format.md#templates). */
interface TemplateFunction {
  /**
   * How the argument is split at its commas: not at all, at the last one (a message that may have commas, then a key),
   * or at each.
   */
  readonly split: 'whole' | 'last' | 'each';
  /**
   * Null: the value counts as unresolved.
   * @throws GatewayError `invalid_credentials`
   */
  apply(args: readonly string[], values: FunctionValues): string | null;
}

const whole = (apply: (text: string) => string): TemplateFunction => ({
  split: 'whole',
  apply: ([text = '']) => apply(text),
});
const keyed = (apply: (message: string, key: string) => string): TemplateFunction => ({
  split: 'last',
  apply: ([message = '', key = '']) => apply(message, key),
});
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data);

const templateFunctions: Readonly<Record<string, TemplateFunction>> = {
  base64: whole((text) => Buffer.from(text).toString('base64')),
  sha256Hex: whole((text) => sha256(text).digest('hex')),
  sha256Base64: whole((text) => sha256(text).digest('base64')),
  hmacSha1Hex: keyed((message, key) => createHmac('sha1', key).update(message).digest('hex')),
  ed25519Sign: keyed(ed25519Signature),
  fingerprint: whole(publicKeyFingerprint),
  awsSigV4: { split: 'each', apply: awsSignature },
};

/** Base64 of the signature (RFC 8032). */
function ed25519Signature(message: string, pem: string): string {
  const key = privateKeyOf(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw unusableKey(new TypeError('no Ed25519 key'));
  return sign(null, Buffer.from(message), key).toString('base64');
}

/** `SHA256:` and base64 of the digest of the public key (SubjectPublicKeyInfo, DER) of a private key. */
function publicKeyFingerprint(pem: string): string {
  const publicKey = createPublicKey(privateKeyOf(pem)).export({ type: 'spki', format: 'der' });
  return `SHA256:${sha256(publicKey).digest('base64')}`;
}

/**
 * `Authorization` of AWS Signature Version 4 over host, content type and the `x-amz-` headers. The definition sends
 * `x-amz-date` itself as `${now:YYYYMMDDTHHmmss}Z`, and for `s3` the digest of the body as `x-amz-content-sha256`. The
 * host is that of the call unless one is passed.
 */
function awsSignature(
  [id, secret, region, service, givenHost]: readonly string[],
  { now, call }: FunctionValues,
): string | null {
  if (call === undefined || service === undefined || region === undefined) return null;
  const time = awsTime(now);
  const { contentType, method, url, body } = call;
  const headers = {
    ...Object.fromEntries(
      Object.entries(call.headers).filter(([name]) => name.startsWith('x-amz-')),
    ),
    ...(contentType === '' ? {} : { 'content-type': contentType }),
    ...(service === 's3' ? { 'x-amz-content-sha256': sha256(body).digest('hex') } : {}),
    host: givenHost ?? url.host,
    'x-amz-date': time,
  };
  return awsAuthorization(
    { method, url, service, region, headers, body },
    { accessKeyId: id ?? '', secretAccessKey: secret ?? '' },
  );
}
