import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { atPath } from '#kernel/json-path.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import { readWebhookSecret, webhookSecretPrefix } from '#kernel/webhook-secret.ts';
import type { IntegrationCredentials } from '#modules/connections/integrations/integration.ts';
import type {
  KeySource,
  SignatureRule,
  WebhookRules,
} from '#modules/connections/providers/webhook-rules.ts';
import { holds, readFacts, valueAt, type IncomingRequest, type WebhookFacts } from './facts.ts';
import { signedText, verifyByPublicKey, type SignedRequest } from './signed-text.ts';
import { verifyToken, type TokenContext } from './verify-token.ts';

/** What a request is verified against. */
export interface VerificationContext extends TokenContext {
  readonly rules: WebhookRules;
  readonly credentials: IntegrationCredentials | null;
}

/** A request that a secret of the integration signed, or that needs none of it. */
export interface VerifiedRequest {
  readonly request: IncomingRequest;
  readonly facts: WebhookFacts;
  /** The body of each event. */
  readonly events: readonly Json[];
  /** Whether events without the secret of the integration were dropped. */
  readonly isPartial: boolean;
  /** The rules except it from signatures. */
  readonly isUnsigned: boolean;
  /** A secret of the integration verified it. */
  readonly isVerified: boolean;
}

/**
 * Verifies a request by the secrets of the integration, and reads its facts.
 * @throws GatewayError the rejection (docs/reference/webhooks-in.md#answers)
 */
export async function verifyRequest(
  request: IncomingRequest,
  context: VerificationContext,
): Promise<VerifiedRequest> {
  const { rules } = context;
  // Before the body is parsed, unless the body has the signature or decides whether one is needed.
  const early = rules.signatures.some(readsBody) ? await readFacts(request, rules) : null;
  const signed: SignedRequest = { request, facts: early, address: context.address };
  const rule = signatureRuleOf(signed, rules);
  const check = async (): Promise<boolean> =>
    rule !== null && !isOfConnection(rule) && (await checkSignature(rule, signed, context));
  const isAlwaysSigned = rules.unsigned.length === 0;
  const isSigned = isAlwaysSigned && (await check());
  const facts = early ?? (await readFacts(request, rules));
  const isUnsigned = rules.unsigned.some((condition) => holds(facts, condition));
  if (isUnsigned) {
    return { request, facts, events: [], isPartial: false, isUnsigned, isVerified: false };
  }
  const isVerified = isAlwaysSigned ? isSigned : await check();
  const all = eventsOf(facts, rules);
  const events = withToken(all, context);
  return {
    request,
    facts,
    events,
    isPartial: events.length < all.length,
    isUnsigned,
    isVerified: isVerified || repeatsSecret(events, context),
  };
}

/** Whether a secret of the connection signs, which the facts name. */
export const isOfConnection = ({ keys }: SignatureRule): boolean =>
  keys.some((key) => typeof key === 'object');

/** The rule whose signature is present, otherwise the first; null when the provider signs nothing. */
export function signatureRuleOf(
  signed: SignedRequest,
  { signatures }: WebhookRules,
): SignatureRule | null {
  const present = signatures.find((rule) => inputOf(rule, signed) !== null);
  return present ?? signatures[0] ?? null;
}

/**
 * False when no signature is required and none was present.
 * @throws GatewayError the rejection
 */
async function checkSignature(
  rule: SignatureRule,
  signed: SignedRequest,
  context: VerificationContext,
): Promise<boolean> {
  if (rule.scheme === 'jwt') {
    const token = signed.request.headers['authorization'];
    await verifyToken(rule, token, context);
    return token !== undefined;
  }
  const { credentials, now } = context;
  const secrets = rule.keys.map((key) => secretOfIntegration(key, credentials));
  const secret = usableSecret(rule, secrets, missingWebhookSecret);
  if (secret !== null) verifySignature(rule, signed, secret, now);
  return secret !== null;
}

/**
 * The first secret that contains a key; null when none is set and none is required. A secret that decodes to nothing
 * counts as missing, also where none is required: setting one means that deliveries must be verified.
 */
export function usableSecret(
  rule: SignatureRule,
  secrets: readonly (string | null)[],
  missing: () => GatewayError,
): string | null {
  const set = secrets.filter((secret): secret is string => secret !== null && secret !== '');
  const usable = set.find((secret) => holdsKey(rule, secret));
  if (usable === undefined && (rule.is_required || set.length > 0)) throw missing();
  return usable ?? null;
}

export function missingWebhookSecret(): GatewayError {
  const message = 'The webhook_secret of the integration contains no key to verify webhooks.';
  return new GatewayError('webhook_missing_secret', { message });
}

export function secretOfIntegration(
  key: KeySource,
  credentials: IntegrationCredentials | null,
): string | null {
  if (key === 'webhook_secret') return credentials?.webhookSecret ?? null;
  if (key === 'client_secret') return credentials?.clientSecret ?? null;
  const { appId, privateKey, appLink } = credentials ?? {};
  if (key !== 'app_digest' || appId === undefined || privateKey === undefined) return null;
  return createHash('sha256')
    .update(`${appId}${privateKey}${appLink ?? ''}`)
    .digest('hex');
}

function eventsOf({ body }: WebhookFacts, { events }: WebhookRules): readonly Json[] {
  if (events === undefined) return [body];
  const list = events.path === undefined ? body : atPath(body, events.path);
  if (Array.isArray(list)) return list as readonly Json[];
  return events.path === undefined ? [body] : [];
}

/**
 * The events that repeat the secret.
 * @throws GatewayError `webhook_invalid_signature` when there is none
 */
function withToken(
  parts: readonly Json[],
  { rules: { event_token: path }, credentials }: VerificationContext,
): readonly Json[] {
  const secret = credentials?.webhookSecret ?? '';
  if (path === undefined || secret === '' || parts.length === 0) return parts;
  if (isBlank(secret)) throw missingWebhookSecret();
  const genuine = parts.filter((part) => {
    const value = isJsonObject(part) ? atPath(part, path) : undefined;
    return typeof value === 'string' && isEqual(value, secret);
  });
  if (genuine.length === 0) throw invalid('No event contains the secret of the integration.');
  return genuine;
}

/** Whether `withToken` has compared the events with a secret. */
const repeatsSecret = (
  parts: readonly Json[],
  { rules, credentials }: VerificationContext,
): boolean =>
  rules.event_token !== undefined && (credentials?.webhookSecret ?? '') !== '' && parts.length > 0;

/** Tolerance of a Standard Webhooks timestamp in both directions, in seconds. */
const standardToleranceS = 300;

/** Compares two texts in a time that depends only on their lengths. */
export function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The secret decoded by the rule. */
function keyOf({ scheme, key_encoding: encoding }: SignatureRule, secret: string): Buffer {
  return scheme === 'standard-webhooks'
    ? readWebhookSecret(secret, encoding)
    : Buffer.from(secret, encoding);
}

export const isBlank = (secret: string): boolean =>
  ['', webhookSecretPrefix].includes(secret.trim());

/** Anyone can sign with the empty key: a secret that decodes to nothing is not a secret. */
const holdsKey = (rule: SignatureRule, secret: string): boolean =>
  !isBlank(secret) && keyOf(rule, secret).length > 0;

/** The header that carries the signature of the scheme. */
function headerOf({ scheme, header = '' }: SignatureRule): string {
  if (scheme === 'standard-webhooks') return header === '' ? 'webhook-signature' : header;
  return ['basic', 'jwt'].includes(scheme) ? 'authorization' : header;
}

/** Where the signature is, as the refusal names it. */
const placeOf = (rule: SignatureRule): string =>
  rule.body === undefined
    ? rule.query === undefined
      ? `header ${headerOf(rule)}`
      : `parameter ${rule.query}`
    : `field ${rule.body} of the body`;

/** The signature as the request has it; null without one. */
function inputOf(rule: SignatureRule, { request, facts }: SignedRequest): string | null {
  if (rule.body !== undefined) {
    return facts === null ? null : valueAt(facts, { body: rule.body });
  }
  if (rule.query !== undefined) return new URLSearchParams(request.search).get(rule.query);
  return request.headers[headerOf(rule)] ?? null;
}

/** Whether the rule can be checked only once the body was parsed. */
const readsBody = ({ body, timestamp, message }: SignatureRule): boolean =>
  body !== undefined || timestamp?.body !== undefined || /\$body\(|\$form/.test(message);

/**
 * Checks the request against the rule with the secret.
 * @param now seconds since the epoch
 * @throws GatewayError `webhook_missing_signature` (or `…_token`), `webhook_invalid_signature`
 */
export function verifySignature(
  rule: SignatureRule,
  signed: SignedRequest,
  secret: string,
  now: number,
): void {
  const input = inputOf(rule, signed);
  if (input === null || input === '') throw missing(rule);
  if (rule.scheme === 'token') verifyText(bareOf(rule, [input])[0] ?? '', secret);
  else if (rule.scheme === 'basic') verifyBasic(input, secret);
  else if (rule.scheme === 'standard-webhooks') verifyStandard(rule, signed, input, secret, now);
  else verifySigned(rule, signed, input, secret, now);
}

function verifyText(input: string, secret: string): void {
  if (!isEqual(input, secret)) throw invalid('The token does not match the integration.');
}

/** RFC 7617: name and password in base64. */
function verifyBasic(input: string, secret: string): void {
  const credentials = /^Basic +(\S+)$/i.exec(input)?.[1] ?? '';
  verifyText(Buffer.from(credentials, 'base64').toString(), secret);
}

/**
 * https://www.standardwebhooks.com: `webhook-signature` is a list, any entry of which may match. Senders with another
 * name of the header (`svix-signature`) have the same in place of `webhook` in the others.
 */
function verifyStandard(
  rule: SignatureRule,
  { request }: SignedRequest,
  input: string,
  secret: string,
  now: number,
): void {
  const start = headerOf(rule).replace(/-signature$/, '');
  const id = request.headers[`${start}-id`];
  const timestamp = request.headers[`${start}-timestamp`];
  if (id === undefined || timestamp === undefined) {
    const message = `The headers ${start}-id and ${start}-timestamp are required.`;
    throw new GatewayError('webhook_missing_signature', { message });
  }
  checkTime(timestamp, 'seconds', standardToleranceS, now);
  const expected = createHmac('sha256', keyOf(rule, secret))
    .update(`${id}.${timestamp}.`)
    .update(request.bytes)
    .digest('base64');
  const signatures = input
    .split(' ')
    .filter((entry) => entry.startsWith('v1,'))
    .map((entry) => entry.slice('v1,'.length));
  if (!anyEqual(signatures, expected, 'base64')) throw invalid('The signature does not match.');
}

function verifySigned(
  rule: SignatureRule,
  signed: SignedRequest,
  input: string,
  secret: string,
  now: number,
): void {
  const elements = rule.element === undefined ? null : elementsOf(input, rule.separator);
  const timestamp = timestampOf(rule, signed, elements);
  if (timestamp !== null) {
    checkTime(timestamp, rule.timestamp?.format ?? 'seconds', rule.tolerance_seconds, now);
  }
  const signatures =
    elements === null
      ? [input]
      : elements.filter(([name]) => name === rule.element).map(([, value]) => value);
  const bare = bareOf(rule, signatures);
  const parts = signedText(rule.message, signed, { timestamp: timestamp ?? '', key: secret });
  const isGenuine = isByPublicKey(rule)
    ? verifyByPublicKey(rule.scheme, parts, bare, secret)
    : anyEqual(bare, hashOf(rule, parts, secret), rule.encoding);
  if (!isGenuine) throw invalid('The signature does not match.');
}

const isByPublicKey = (
  rule: SignatureRule,
): rule is SignatureRule & { readonly scheme: 'rsa' | 'ecdsa' | 'ed25519' } =>
  ['rsa', 'ecdsa', 'ed25519'].includes(rule.scheme);

/** Those with the prefix of the rule, without it. */
const bareOf = ({ prefix }: SignatureRule, signatures: readonly string[]): string[] =>
  signatures
    .filter((signature) => signature.startsWith(prefix))
    .map((signature) => signature.slice(prefix.length));

function hashOf(rule: SignatureRule, parts: readonly Buffer[], secret: string): string {
  const hash =
    rule.scheme === 'digest'
      ? createHash(rule.algorithm)
      : createHmac(rule.algorithm, keyOf(rule, secret));
  for (const part of parts) hash.update(part);
  return hash.digest(rule.encoding);
}

/**
 * Compares every candidate of the right length, so that the time does not depend on the position of a match. The
 * spelling of the same bytes does not matter: hex in either case, base64 of either alphabet, with or without padding.
 */
function anyEqual(
  candidates: readonly string[],
  expected: string,
  encoding: SignatureRule['encoding'],
): boolean {
  const wanted = spelled(expected, encoding);
  return candidates
    .map((candidate) => spelled(candidate, encoding))
    .filter(({ length }) => length === wanted.length)
    .map((candidate) => isEqual(candidate, wanted))
    .includes(true);
}

function spelled(signature: string, encoding: SignatureRule['encoding']): string {
  if (encoding === 'hex') return signature.toLowerCase();
  return signature
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
}

function elementsOf(header: string, separator: string): [string, string][] {
  return header.split(separator).map((part) => {
    const at = part.indexOf('=');
    return [part.slice(0, Math.max(at, 0)).trim(), part.slice(at + 1).trim()];
  });
}

function timestampOf(
  { timestamp }: SignatureRule,
  { request, facts }: SignedRequest,
  elements: readonly [string, string][] | null,
): string | null {
  if (timestamp === undefined) return null;
  const { header, element, body } = timestamp;
  const found =
    body !== undefined && facts !== null
      ? valueAt(facts, { body })
      : header === undefined
        ? elements?.find(([name]) => name === element)?.[1]
        : request.headers[header];
  if (found !== undefined && found !== null) return found;
  const message = 'The signature has no timestamp.';
  throw new GatewayError('webhook_missing_signature', { message });
}

type TimeFormat = NonNullable<SignatureRule['timestamp']>['format'];

function checkTime(timestamp: string, format: TimeFormat, toleranceS: number, now: number): void {
  const isFresh = Math.abs(now - secondsOf(timestamp, format)) <= toleranceS;
  if (!isFresh)
    throw invalid(`The timestamp differs from the current time by more than ${toleranceS} s.`);
}

/** NaN for another text. */
function secondsOf(timestamp: string, format: TimeFormat): number {
  if (format === 'iso') return Date.parse(timestamp) / 1000;
  if (!/^\d{1,15}$/.test(timestamp)) return NaN;
  return format === 'seconds' ? Number(timestamp) : Math.floor(Number(timestamp) / 1000);
}

function missing(rule: SignatureRule): GatewayError {
  const isToken = ['token', 'basic'].includes(rule.scheme);
  const code = isToken ? 'webhook_missing_token' : 'webhook_missing_signature';
  return new GatewayError(code, { message: `The ${placeOf(rule)} is missing.` });
}

export const invalid = (message: string): GatewayError =>
  new GatewayError('webhook_invalid_signature', { message });
