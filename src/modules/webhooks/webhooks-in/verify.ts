import {
  createHash,
  createHmac,
  type KeyObject,
  timingSafeEqual,
  verify as isSignedBy,
} from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { atPath } from '#kernel/json-path.ts';
import { parsePublicKey } from '#kernel/pem.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import { readWebhookSecret, webhookSecretPrefix } from '#kernel/webhook-secret.ts';
import type { IntegrationCredentials } from '#modules/connections/integrations/integration.ts';
import type {
  KeySource,
  SignatureRule,
  WebhookRules,
} from '#modules/connections/providers/webhook-rules.ts';
import { holds, readFacts, type IncomingRequest, type WebhookFacts } from './facts.ts';
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
  const rule = signatureRuleOf(request, rules);
  const check = async (): Promise<boolean> =>
    rule !== null && !isOfConnection(rule) && (await checkSignature(rule, request, context));
  // Before the body is parsed, unless the body decides whether a signature is needed.
  const isAlwaysSigned = rules.unsigned.length === 0;
  const isSigned = isAlwaysSigned && (await check());
  const facts = await readFacts(request, rules);
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

/** The rule whose header is present, otherwise the first; null when the provider signs nothing. */
export function signatureRuleOf(
  { headers }: IncomingRequest,
  { signatures }: WebhookRules,
): SignatureRule | null {
  const present = signatures.find((rule) => headers[headerOf(rule)] !== undefined);
  return present ?? signatures[0] ?? null;
}

/**
 * False when no signature is required and none was present.
 * @throws GatewayError the rejection
 */
async function checkSignature(
  rule: SignatureRule,
  request: IncomingRequest,
  context: VerificationContext,
): Promise<boolean> {
  if (rule.scheme === 'jwt') {
    const token = request.headers[headerOf(rule)];
    await verifyToken(rule, token, context);
    return token !== undefined;
  }
  const { credentials, now } = context;
  const secrets = rule.keys.map((key) => secretOfIntegration(key, credentials));
  const secret = usableSecret(rule, secrets, missingWebhookSecret);
  if (secret !== null) verifySignature(rule, request, secret, now);
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

function missingWebhookSecret(): GatewayError {
  const message = 'The webhook_secret of the integration contains no key to verify webhooks.';
  return new GatewayError('webhook_missing_secret', { message });
}

function secretOfIntegration(
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
  if (scheme === 'standard-webhooks') return 'webhook-signature';
  return scheme === 'jwt' ? 'authorization' : header;
}

/**
 * Checks the request against the rule with the secret.
 * @param now seconds since the epoch
 * @throws GatewayError `webhook_missing_signature` (or `…_token`), `webhook_invalid_signature`
 */
export function verifySignature(
  rule: SignatureRule,
  request: IncomingRequest,
  secret: string,
  now: number,
): void {
  const header = headerOf(rule);
  const input = request.headers[header];
  if (input === undefined || input === '') throw missing(rule, header);
  if (rule.scheme === 'token') {
    if (!isEqual(input, secret)) throw invalid('The token does not match the integration.');
    return;
  }
  if (rule.scheme === 'standard-webhooks') verifyStandard(request, input, keyOf(rule, secret), now);
  else if (rule.scheme === 'rsa' || rule.scheme === 'ed25519')
    verifyByPublicKey(rule.scheme, request, input, secret);
  else verifySigned(rule, request, input, secret, now);
}

/** https://www.standardwebhooks.com: `webhook-signature` is a list, any entry of which may match. */
function verifyStandard(request: IncomingRequest, input: string, key: Buffer, now: number): void {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = request.headers;
  if (id === undefined || timestamp === undefined) {
    const message = 'The headers webhook-id and webhook-timestamp are required.';
    throw new GatewayError('webhook_missing_signature', { message });
  }
  checkTime(timestamp, standardToleranceS, now);
  const expected = createHmac('sha256', key)
    .update(`${id}.${timestamp}.`)
    .update(request.bytes)
    .digest('base64');
  const signatures = input
    .split(' ')
    .filter((entry) => entry.startsWith('v1,'))
    .map((entry) => entry.slice('v1,'.length));
  if (!anyEqual(signatures, expected, 'base64')) throw invalid('The signature does not match.');
}

/** Digests of the schemes whose secret is a public key; RFC 8032 signs the message itself. */
const digestOf = { rsa: 'RSA-SHA256', ed25519: null } as const;

/** @param key the public key: PEM, or its bytes in base64 */
function verifyByPublicKey(
  scheme: keyof typeof digestOf,
  { bytes }: IncomingRequest,
  input: string,
  key: string,
): void {
  const signature = Buffer.from(input, 'base64');
  const isGenuine = isSignedBy(digestOf[scheme], bytes, publicKeyOf(scheme, key), signature);
  if (!isGenuine) throw invalid('The signature does not match.');
}

/** @throws GatewayError `webhook_missing_secret` where the text is no public key of the scheme */
function publicKeyOf(scheme: keyof typeof digestOf, text: string): KeyObject {
  const message = `The webhook_secret of the integration is not a public key of ${scheme}.`;
  let key;
  try {
    key = parsePublicKey(text);
  } catch (cause) {
    throw new GatewayError('webhook_missing_secret', { message }, { cause });
  }
  if (key.asymmetricKeyType === scheme) return key;
  throw new GatewayError('webhook_missing_secret', { message });
}

function verifySigned(
  rule: SignatureRule,
  request: IncomingRequest,
  input: string,
  secret: string,
  now: number,
): void {
  const elements = rule.element === undefined ? null : elementsOf(input);
  const timestamp = timestampOf(rule, request, elements);
  if (timestamp !== null) checkTime(timestamp, rule.tolerance_seconds, now);
  const signatures =
    elements === null
      ? [input]
      : elements.filter(([name]) => name === rule.element).map(([, value]) => value);
  const expected = signatureOf(rule, request.bytes, secret, timestamp ?? '');
  const bare = signatures
    .filter((signature) => signature.startsWith(rule.prefix))
    .map((signature) => signature.slice(rule.prefix.length));
  if (!anyEqual(bare, expected, rule.encoding)) throw invalid('The signature does not match.');
}

function signatureOf(rule: SignatureRule, body: Buffer, secret: string, timestamp: string): string {
  const hash =
    rule.scheme === 'digest'
      ? createHash(rule.algorithm)
      : createHmac(rule.algorithm, keyOf(rule, secret));
  for (const part of rule.message.split(/(\$body|\$timestamp|\$key)/)) {
    if (part === '$body') hash.update(body);
    else hash.update(part.replace('$timestamp', () => timestamp).replace('$key', () => secret));
  }
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

function elementsOf(header: string): [string, string][] {
  return header.split(',').map((part) => {
    const at = part.indexOf('=');
    return [part.slice(0, Math.max(at, 0)).trim(), part.slice(at + 1).trim()];
  });
}

function timestampOf(
  { timestamp }: SignatureRule,
  { headers }: IncomingRequest,
  elements: readonly [string, string][] | null,
): string | null {
  if (timestamp === undefined) return null;
  const found =
    timestamp.header === undefined
      ? elements?.find(([name]) => name === timestamp.element)?.[1]
      : headers[timestamp.header];
  if (found !== undefined) return found;
  const message = 'The signature has no timestamp.';
  throw new GatewayError('webhook_missing_signature', { message });
}

function checkTime(timestamp: string, toleranceS: number, now: number): void {
  const isFresh = /^\d{1,12}$/.test(timestamp) && Math.abs(now - Number(timestamp)) <= toleranceS;
  if (!isFresh)
    throw invalid(`The timestamp differs from the current time by more than ${toleranceS} s.`);
}

function missing(rule: SignatureRule, header: string): GatewayError {
  const code = rule.scheme === 'token' ? 'webhook_missing_token' : 'webhook_missing_signature';
  return new GatewayError(code, { message: `The header ${header} is missing.` });
}

export const invalid = (message: string): GatewayError =>
  new GatewayError('webhook_invalid_signature', { message });
