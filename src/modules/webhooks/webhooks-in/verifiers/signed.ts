import { createHash, createHmac, timingSafeEqual, verify as isSignedBy } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { parsePublicKey } from '#kernel/pem.ts';
import { readWebhookSecret, webhookSecretPrefix } from '#kernel/webhook-secret.ts';
import type { SignatureRule } from '#modules/connections/providers/webhook-rules.ts';
import type { IncomingRequest } from '../request.ts';

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
export const holdsKey = (rule: SignatureRule, secret: string): boolean =>
  !isBlank(secret) && keyOf(rule, secret).length > 0;

/** The header that carries the signature of the scheme. */
export function headerOf({ scheme, header = '' }: SignatureRule): string {
  if (scheme === 'standard-webhooks') return 'webhook-signature';
  return scheme === 'jwt' ? 'authorization' : header;
}

/**
 * Checks the request against the rule with the secret.
 * @param now seconds since the epoch
 * @throws GatewayError `webhook_missing_signature` (or `…_token`), `webhook_invalid_signature`
 */
export function verify(
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
  else if (rule.scheme === 'rsa') verifyRsa(request, input, secret);
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

/** @param key the public key: PEM, or its bytes in base64 */
function verifyRsa({ bytes }: IncomingRequest, input: string, key: string): void {
  let publicKey;
  try {
    publicKey = parsePublicKey(key);
  } catch (cause) {
    const message = 'The webhook_secret of the integration is not a public key.';
    throw new GatewayError('webhook_missing_secret', { message }, { cause });
  }
  const isGenuine = isSignedBy('RSA-SHA256', bytes, publicKey, Buffer.from(input, 'base64'));
  if (!isGenuine) throw invalid('The signature does not match.');
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
