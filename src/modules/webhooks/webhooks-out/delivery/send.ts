import { type ControlPlane, findCaughtUp } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { present } from '#kernel/present.ts';
import type { Clock, Instant } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import { findConnection } from '#modules/connections/connections/queries.ts';
import { type HttpClient, HttpFailure, mayPass } from '#ports/http-client.ts';
import { signDelivery } from '#rules/signature.ts';
import { openCertificate, type ClientCertificate } from '../../webhook-endpoints/authentication.ts';
import { webhookEndpointRef } from '../../webhook-endpoints/entity.ts';
import { openHeaders } from '../../webhook-endpoints/headers.ts';
import { openEndpointKeys } from '../../webhook-endpoints/signing-keys.ts';
import type { WebhookEndpoint } from '../../webhook-endpoints/webhook-endpoint.ts';
import type { EndpointRef } from '../delivery-store.ts';
import { addressContext, deliveryContext, headersContext, type WebhookOut } from '../events.ts';
import { urlOf } from '../outbox.ts';
import { TokenFailure, type EndpointTokens } from './endpoint-tokens.ts';

export interface SendDeps {
  readonly control: ControlPlane;
  readonly vault: Vault;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly userAgent: string;
}

export interface SendingDeps extends SendDeps {
  readonly tokens: EndpointTokens;
}

/** One attempt, and the waits of its endpoint's schedule. */
export interface SentAttempt {
  readonly result: AttemptResult;
  /** Of the address. */
  readonly origin: string;
  /** Id of the delivery's operation in the log that users read. */
  readonly operation: string;
  readonly waitsMs: readonly number[];
}

/** The target of a delivery. */
export interface Target {
  readonly environment: Environment;
  readonly url: string;
  /** May have headers, a schedule and a signing key of its own; null for an address of the environment or of a connection. */
  readonly endpoint: WebhookEndpoint | null;
}

/**
 * Sends the delivery once.
 * @throws the signal's reason: an attempt that the end of the process aborts does not count
 */
export async function sendOnce(
  deps: SendingDeps,
  { environment, url, endpoint }: Target,
  { created, sealedBody }: { readonly created: WebhookOut; readonly sealedBody: Uint8Array },
  attempt: number,
  signal: AbortSignal,
): Promise<SentAttempt> {
  const { vault, http, clock, userAgent, tokens } = deps;
  const { environment_id: uid, message_id: id } = created;
  await vault.ready(uid);
  const body = vault.openBytes(uid, sealedBody, deliveryContext(uid, id));
  const at = clock.now();
  const keys = await openEndpointKeys(vault, { environment, endpoint }, at);
  const own = endpoint === null ? {} : await openHeaders(vault, endpoint);
  const headers = {
    ...forwarded(vault, created),
    ...own,
    'content-type': 'application/json',
    'user-agent': userAgent,
    'webhook-attempt': String(attempt),
    // Receivers recognize a replayed message by its first id.
    ...signDelivery(keys, { id: created.replay_of ?? id, body, at }),
  };
  const certificate = endpoint === null ? null : await openCertificate(vault, endpoint);
  const send = (authorization?: string): Promise<AttemptResult> => {
    const all = { ...headers, ...present({ authorization }) };
    const to = { url, headers: all, ofOrigin: Object.keys(own), body, certificate };
    return attemptDelivery(http, to, at, signal);
  };
  const result =
    endpoint?.oauth == null ? await send() : await sendWithToken(tokens, endpoint, send, signal);
  signal.throwIfAborted();
  return {
    result,
    origin: URL.canParse(url) ? new URL(url).origin : '',
    operation: operationOf(created, body),
    waitsMs:
      endpoint?.retryWaitsMs ?? environment.webhookRetryWaitsMs ?? limits.webhookRetryWaitsMs,
  };
}

/** Sends with a token of the endpoint, and once more with another one where it answers 401. */
async function sendWithToken(
  tokens: EndpointTokens,
  endpoint: WebhookEndpoint,
  send: (authorization: string) => Promise<AttemptResult>,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const beganAt = performance.now();
  try {
    const token = await tokens.tokenOf(endpoint, signal);
    const result = await send(`Bearer ${token}`);
    if (result.status !== 401) return result;
    tokens.refused(endpoint, token);
    const another = await tokens.tokenOf(endpoint, signal);
    return another === token ? result : await send(`Bearer ${another}`);
  } catch (error) {
    if (!(error instanceof TokenFailure)) throw error;
    const { code } = error;
    return {
      isDelivered: false,
      isRetryable: code !== 'token_url_not_allowed',
      isOutage: code === 'token_endpoint_away',
      retryAfterMs: null,
      status: null,
      errorCode: code,
      latencyMs: Math.round(performance.now() - beganAt),
    };
  }
}

/** The URL of a delivery; null when nothing must be sent because the URL or the environment was removed. */
export async function targetOf(deps: SealedEntities, created: WebhookOut): Promise<Target | null> {
  const { control, vault } = deps;
  const { environment_id: uid, message_id: id, address } = created;
  if (address === null) return configuredTarget(deps, created);
  const environment = await findCaughtUp(control.view, () =>
    control.view.find(environmentRef(uid)),
  );
  if (environment === null) return null;
  await vault.ready(uid);
  const url = Buffer.from(vault.openBytes(uid, address, addressContext(uid, id))).toString();
  return { environment, url, endpoint: null };
}

/** The URL that the endpoint has now; null when it has none. */
export async function configuredTarget(
  { control, vault }: SealedEntities,
  { environment_id: uid, endpoint_id, integration, connection_id }: EndpointRef,
): Promise<Target | null> {
  const find = async (): Promise<Target | null> => {
    const environment = control.view.find(environmentRef(uid));
    if (environment === null) return null;
    const connection = findConnection(control, uid, integration ?? '', connection_id ?? '');
    const endpoint = control.view.find(webhookEndpointRef(uid, endpoint_id));
    const url = await urlOf(vault, endpoint_id, { environment, connection, endpoint });
    return url === null ? null : { environment, url, endpoint };
  };
  const existing = await find();
  if (existing !== null) return existing;
  // Another node may have just set the address.
  await control.view.caughtUp();
  return find();
}

/** The provider headers of a forwarded webhook. */
function forwarded(vault: Vault, created: WebhookOut): Readonly<Record<string, string>> {
  const { environment_id: uid, message_id: id, headers } = created;
  if (headers === null) return {};
  const text = Buffer.from(vault.openBytes(uid, headers, headersContext(uid, id))).toString();
  return JSON.parse(text) as Record<string, string>;
}

/**
 * Names of docs/reference/webhooks-out.md#operations-in-the-log.
 * @param body null when it was not decrypted
 */
export function operationOf({ event_kind: kind }: WebhookOut, body: Uint8Array | null): string {
  if (kind !== 'auth') return kind;
  const payload = body === null ? null : (JSON.parse(Buffer.from(body).toString()) as object);
  const isCreation = payload !== null && 'operation' in payload && payload.operation === 'creation';
  return isCreation ? 'connection_create' : 'connection_refresh';
}

/** Limit up to which response bodies are read and discarded. */
const answerBytesMax = 64 * 1024;
const redirectsMax = 5;

/** The outcome of an attempt. `status` is null without a response. */
export interface AttemptResult {
  readonly isDelivered: boolean;
  readonly isRetryable: boolean;
  /** Whether the endpoint is away or overloaded: those failures open its circuit. */
  readonly isOutage: boolean;
  /** The wait that the response asks for; null: none. */
  readonly retryAfterMs: number | null;
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly latencyMs: number;
}

/**
 * Besides 5xx: a receiver that is deployed, or whose key is changed, refuses for a while (Standard Webhooks, "Deliverability and
 * reliability"). 410 says that the endpoint wants no more.
 */
const passingStatuses: ReadonlySet<number> = new Set([401, 403, 404, 408, 409, 425, 429]);

/** Sends the bytes once. User and password of the address travel as Basic, without a header of that name. Never throws. */
export async function attemptDelivery(
  http: HttpClient,
  target: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** Names of those that a redirect to another origin drops. */
    readonly ofOrigin?: readonly string[];
    readonly body: Uint8Array;
    /** Shown to the origin of the address only: with one no redirect is followed. */
    readonly certificate?: ClientCertificate | null;
  },
  now: Instant,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const begin = performance.now();
  const latency = () => Math.round(performance.now() - begin);
  try {
    const { url, authorization } = withoutUser(new URL(target.url));
    const { status, headers } = await http.request({
      method: 'POST',
      url,
      headers: { ...authorization, ...target.headers },
      body: target.body,
      timeoutMs: limits.webhookTimeoutMs,
      maxBytes: answerBytesMax,
      dropsBody: true,
      ...(target.certificate == null
        ? { redirectsMax }
        : { certificate: target.certificate, redirectsMax: 0 }),
      credentialHeaders: ['authorization', ...(target.ofOrigin ?? [])],
      signal,
    });
    const isDelivered = status >= 200 && status < 300;
    return {
      isDelivered,
      isRetryable: status >= 500 || passingStatuses.has(status),
      isOutage: status >= 500 || status === 429,
      retryAfterMs: untilRetry(headers['retry-after'], now),
      status,
      errorCode: null,
      latencyMs: latency(),
    };
  } catch (error) {
    const errorCode = codeOf(error);
    const isRetryable = mayPass(errorCode);
    return {
      isDelivered: false,
      isRetryable,
      isOutage: isRetryable,
      retryAfterMs: null,
      status: null,
      errorCode,
      latencyMs: latency(),
    };
  }
}

/** Wait before the next attempt: that of the schedule or a longer `Retry-After`. Null when the schedule has no other attempt. */
export function retryWaitMs(
  result: AttemptResult,
  attempt: number,
  waitsMs: readonly number[],
): number | null {
  if (result.isDelivered || !result.isRetryable) return null;
  const waitMs = waitsMs[attempt - 1];
  return waitMs === undefined ? null : Math.max(waitMs, result.retryAfterMs ?? 0);
}

/** Jitter of up to 5 %, derived from the message, so that simultaneous failures are not retried simultaneously. */
export function jitterOf({ message_id }: WebhookOut, waitMs: number): number {
  const drawn = Number.parseInt(message_id.slice(-2), 16);
  return Number.isNaN(drawn) ? 0 : Math.round((waitMs * drawn) / 255 / 20);
}

/** Seconds or a date (RFC 9110 section 10.2.3); null for anything else, and for times that have passed. */
function untilRetry(header: string | undefined, now: Instant): number | null {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return ms > 0 ? Math.min(ms, limits.webhookRetryAfterMaxMs) : null;
}

function withoutUser(address: URL): {
  readonly url: URL;
  readonly authorization: { readonly authorization?: string };
} {
  const { username, password } = address;
  if (username === '' && password === '') return { url: address, authorization: {} };
  const url = new URL(address);
  url.username = '';
  url.password = '';
  const user = `${decoded(username)}:${decoded(password)}`;
  const authorization = `Basic ${Buffer.from(user).toString('base64')}`;
  return { url, authorization: { authorization } };
}

/** A stray `%` stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof HttpFailure || error instanceof GatewayError) return error.code;
  return error instanceof TypeError ? 'ERR_INVALID_URL' : 'ERR_UNKNOWN';
}
