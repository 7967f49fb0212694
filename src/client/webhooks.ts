import type { WebhookEndpoint } from './operations.ts';

/** The `Headers` of a request, or an object of them, as Node has it. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookRequest {
  /** Exactly as it arrived: a body that was parsed and written again has other bytes. */
  readonly body: string | Uint8Array | ArrayBuffer;
  readonly headers: WebhookHeaders;
}

export interface VerificationOptions {
  /** How far the time of the attempt may be from now, in seconds; default five minutes. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since the epoch; default the clock. */
  readonly now?: number;
}

export interface VerifiedWebhook {
  /** The same in every attempt: drop a webhook whose id you have seen. */
  readonly id: string;
  /** Of this attempt. */
  readonly sentAt: Date;
  /** JSON parsed. `isWebhook` narrows it to a webhook of the service. */
  readonly payload: unknown;
}

/** A connection was created, authorized again, cannot be refreshed, or can again. */
export interface AuthWebhook {
  readonly type: 'auth';
  readonly from: 'svc';
  readonly operation: 'creation' | 'override' | 'refresh';
  readonly success: boolean;
  readonly authMode: string;
  readonly connectionId: string;
  readonly providerConfigKey: string;
  readonly provider: string;
  readonly environment: string;
  readonly endUser?: {
    readonly endUserId: string;
    readonly endUserEmail: string | null;
    readonly organizationId?: string;
    readonly tags: Readonly<Record<string, string>>;
  };
  readonly tags?: Readonly<Record<string, string>>;
  /** Of failures. */
  readonly error?: { readonly type: string; readonly description: string };
}

/** A run has ended. */
export interface SyncWebhook {
  readonly type: 'sync';
  readonly from: 'svc';
  readonly connectionId: string;
  readonly providerConfigKey: string;
  readonly syncName: string;
  readonly syncVariant: string;
  readonly syncType: 'INITIAL' | 'INCREMENTAL' | 'WEBHOOK';
  /** Of a failure: all of its models with commas between them. */
  readonly model: string;
  readonly success: boolean;
  readonly checkpoints?: { readonly from: unknown; readonly to: unknown };
  /** Of successes. */
  readonly modifiedAfter?: string;
  readonly queryTimeStamp?: string;
  readonly responseResults?: {
    readonly added: number;
    readonly updated: number;
    readonly deleted: number;
  };
  /** Of failures. */
  readonly error?: { readonly type: string; readonly description: string };
  readonly startedAt?: string;
  readonly failedAt?: string;
}

/** The output of an action can be fetched. */
export interface AsyncActionWebhook {
  readonly type: 'async_action';
  readonly from: 'svc';
  readonly connectionId: string;
  readonly providerConfigKey: string;
  readonly payload: { readonly id: string; readonly statusUrl: string };
}

/** A webhook of a provider, with the connection that it is about. */
export interface ForwardedWebhook {
  readonly type: 'forward';
  /** The provider. */
  readonly from: string;
  readonly connectionId: string;
  readonly providerConfigKey: string;
  /** The body that the provider sent. */
  readonly payload: unknown;
}

/** Sent on request, to try an endpoint. */
export interface TestWebhook {
  readonly type: 'test';
  readonly from: 'svc';
  readonly environment: string;
  readonly endpointId: string;
  readonly sentAt: string;
}

export type Webhook =
  | AuthWebhook
  | SyncWebhook
  | AsyncActionWebhook
  | ForwardedWebhook
  | TestWebhook;

export type WebhookVerificationCode =
  | 'missing_key'
  | 'invalid_key'
  | 'missing_headers'
  | 'invalid_timestamp'
  | 'wrong_time'
  | 'wrong_signature'
  | 'invalid_payload';

/** Why a request is not a webhook of the service; answer it with 400. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookVerificationCode;

  constructor(code: WebhookVerificationCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const toleranceDefaultSeconds = 300;

/**
 * Verifies a webhook of the service (docs/reference/webhooks-out.md#headers): its signature by Standard Webhooks,
 * over id, time and body, and its time, so that a recorded request cannot be sent again later.
 * @param key the webhook signing key of the environment: `whsec_` and base64, or its text
 * @throws WebhookVerificationError
 */
export async function verifyWebhook(
  { body, headers }: WebhookRequest,
  key: string,
  { toleranceSeconds = toleranceDefaultSeconds, now = Date.now() }: VerificationOptions = {},
): Promise<VerifiedWebhook> {
  const id = headerOf(headers, 'webhook-id');
  const time = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  if (!/^\d{1,12}$/.test(time)) {
    throw new WebhookVerificationError('invalid_timestamp', `webhook-timestamp is "${time}".`);
  }
  const sentAt = new Date(Number(time) * 1000);
  if (Math.abs(sentAt.getTime() - now) > toleranceSeconds * 1000) {
    const message = `It was sent at ${sentAt.toISOString()}, more than ${toleranceSeconds} s from now.`;
    throw new WebhookVerificationError('wrong_time', message);
  }
  const bytes = bytesOf(body);
  const signed = joined(bytesOf(`${id}.${time}.`), bytes);
  const hmacKey = await hmacKeyOf(key);
  const matches = signatures
    .filter((one) => one.startsWith('v1,'))
    .map((one) => isSignature(hmacKey, signatureOf(one.slice('v1,'.length)), signed));
  if (!(await Promise.all(matches)).includes(true)) {
    const message = 'No signature in webhook-signature fits the key and the body.';
    throw new WebhookVerificationError('wrong_signature', message);
  }
  return { id, sentAt, payload: parsed(bytes) };
}

/**
 * Whether `X-Svc-Hmac-Sha256` is that of the body under the key: for receivers without the headers of Standard
 * Webhooks. It covers no time: such a request can be recorded and sent again.
 * @throws WebhookVerificationError when the key is blank, or `whsec_` without base64
 */
export async function verifyHmac({ body, headers }: WebhookRequest, key: string): Promise<boolean> {
  const hmacKey = await hmacKeyOf(key);
  const signature = fromHex(headerOf(headers, 'x-svc-hmac-sha256'));
  return isSignature(hmacKey, signature, bytesOf(body));
}

type WebhookKind = NonNullable<WebhookEndpoint['kinds']>[number];

/** The kinds that the service itself sends; a kind of the API without a type here does not compile. */
const ownKinds: {
  readonly [Kind in Exclude<WebhookKind, 'forward'>]: Extract<
    Webhook,
    { readonly type: Kind }
  >['from'];
} = { auth: 'svc', sync: 'svc', async_action: 'svc', test: 'svc' };

/** Whether a payload is a webhook of the service, and not the body of a provider's that names no connection. */
export function isWebhook(payload: unknown): payload is Webhook {
  if (typeof payload !== 'object' || payload === null) return false;
  const { type, from } = payload as { readonly type?: unknown; readonly from?: unknown };
  if (type === 'forward') return typeof from === 'string' && 'payload' in payload;
  return from === 'svc' && typeof type === 'string' && Object.hasOwn(ownKinds, type);
}

/** @throws WebhookVerificationError */
function headerOf(headers: WebhookHeaders, name: string): string {
  const found = isGetter(headers) ? headers.get(name) : fieldOf(headers, name);
  if (found !== null && found !== '') return found;
  throw new WebhookVerificationError('missing_headers', `The header ${name} is missing.`);
}

const isGetter = (headers: WebhookHeaders): headers is { get(name: string): string | null } =>
  typeof headers['get'] === 'function';

/** Of several values of a name, none can be trusted. */
const fieldOf = (headers: object, wanted: string): string | null => {
  const found = Object.entries(headers).filter(([name]) => name.toLowerCase() === wanted);
  const [value, ...others] = found.flatMap(([, one]: [string, unknown]) => one);
  return typeof value === 'string' && others.length === 0 ? value : null;
};

/** Anyone can sign with a blank key, such as that of a variable that is not set. */
async function hmacKeyOf(key: string): Promise<HmacKey> {
  if (typeof key !== 'string' || key.trim() === '') {
    throw new WebhookVerificationError('missing_key', 'The webhook signing key is blank.');
  }
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', keyBytesOf(key), algorithm, false, ['verify']);
}

const keyPrefix = 'whsec_';

/** @throws WebhookVerificationError */
function keyBytesOf(key: string): Bytes {
  if (!key.startsWith(keyPrefix)) return bytesOf(key);
  const bytes = fromBase64(key.slice(keyPrefix.length));
  if (bytes !== null && bytes.length > 0) return bytes;
  const message = 'The webhook signing key is whsec_ without base64.';
  throw new WebhookVerificationError('invalid_key', message);
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Its global name is not the same with every runtime's types. */
type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** In constant time; null is no signature. */
const isSignature = async (key: HmacKey, signature: Bytes | null, data: Bytes): Promise<boolean> =>
  signature !== null && crypto.subtle.verify('HMAC', key, signature, data);

function bytesOf(body: WebhookRequest['body']): Bytes {
  return typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
}

function joined(first: Bytes, second: Bytes): Bytes {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

const signatureOf = (base64: string): Bytes | null =>
  base64.length === 44 ? fromBase64(base64) : null;

/** Padding may be absent. */
function fromBase64(text: string): Bytes | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  try {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  } catch {
    return null;
  }
}

function fromHex(text: string): Bytes | null {
  if (!/^[0-9a-f]{64}$/.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** @throws WebhookVerificationError */
function parsed(body: Bytes): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch (cause) {
    throw new WebhookVerificationError('invalid_payload', 'The body is not JSON.', { cause });
  }
}
