import { type KeyObject, createPublicKey, verify as isSignedBy } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { parsePublicKey } from '#kernel/pem.ts';
import { valueAt, type IncomingRequest, type WebhookFacts } from './facts.ts';

/** A request that a provider signed. */
export interface SignedRequest {
  readonly request: IncomingRequest;
  /** Null while the body is not parsed. */
  readonly facts: WebhookFacts | null;
  /** The address of the webhook without its query. */
  readonly address: () => string;
}

const token = /(\$(?:header|query|body)\([^)]+\)|\$(?:body|timestamp|key|url|form))/;

/** The signed text of a rule (docs/reference/provider-format.md#signatures), in parts: the body is bytes. */
export function signedText(
  template: string,
  signed: SignedRequest,
  values: { readonly timestamp: string; readonly key: string },
): Buffer[] {
  const { bytes, search } = signed.request;
  return template.split(token).map((part) => {
    if (part === '$body') return bytes;
    if (part === '$timestamp') return Buffer.from(values.timestamp);
    if (part === '$key') return Buffer.from(values.key);
    if (part === '$url') {
      return Buffer.from(`${signed.address()}${search === '' ? '' : `?${search}`}`);
    }
    if (part === '$form') return Buffer.from(sortedForm(bytes));
    const [, place, name = ''] = /^\$(header|query|body)\((.+)\)$/.exec(part) ?? [];
    return Buffer.from(place === undefined ? part : valueIn(signed, place, name));
  });
}

function valueIn({ request, facts }: SignedRequest, place: string, name: string): string {
  if (place === 'header') return request.headers[name] ?? '';
  if (place === 'query') return new URLSearchParams(request.search).get(name) ?? '';
  return facts === null ? '' : (valueAt(facts, { body: name }) ?? '');
}

/** Names and values, sorted by name; each value of a repeated name once. */
function sortedForm(bytes: Buffer): string {
  const form = new URLSearchParams(bytes.toString());
  return [...new Set(form.keys())]
    .sort()
    .flatMap((name) => [...new Set(form.getAll(name))].sort().map((value) => name + value))
    .join('');
}

/** The schemes whose secret is a public key: its type, and the digest that is signed (RFC 8032: the text itself). */
const publicKeys = {
  rsa: { type: 'rsa', digest: 'RSA-SHA256' },
  ecdsa: { type: 'ec', digest: 'sha256' },
  ed25519: { type: 'ed25519', digest: null },
} as const;
type PublicKeyScheme = keyof typeof publicKeys;

/**
 * Whether one of the signatures, in base64 or hex, is of the text.
 * @param key the public key: PEM, or its bytes in base64; of `ed25519` also its 32 bytes in hex
 * @throws GatewayError `webhook_missing_secret` where the text is no public key of the scheme
 */
export function verifyByPublicKey(
  scheme: PublicKeyScheme,
  parts: readonly Buffer[],
  signatures: readonly string[],
  key: string,
): boolean {
  const publicKey = publicKeyOf(scheme, key);
  const text = Buffer.concat(parts);
  return signatures.some((signature) => {
    const encoding = /^(?:[0-9a-f]{2})+$/i.test(signature) ? 'hex' : 'base64';
    return isSignedBy(publicKeys[scheme].digest, text, publicKey, Buffer.from(signature, encoding));
  });
}

function publicKeyOf(scheme: PublicKeyScheme, text: string): KeyObject {
  const message = `The webhook_secret of the integration is not a public key of ${scheme}.`;
  let key;
  try {
    key = (scheme === 'ed25519' ? bareEd25519(text) : null) ?? parsePublicKey(text);
  } catch (cause) {
    throw new GatewayError('webhook_missing_secret', { message }, { cause });
  }
  if (key.asymmetricKeyType === publicKeys[scheme].type) return key;
  throw new GatewayError('webhook_missing_secret', { message });
}

/** A key that is written as its 32 bytes, in hex or base64; null for another text. */
function bareEd25519(text: string): KeyObject | null {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? 'hex' : 'base64');
  if (bytes.length !== 32 || trimmed.includes('-----')) return null;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') };
  return createPublicKey({ key: jwk, format: 'jwk' });
}
