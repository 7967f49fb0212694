import { bodyText } from '#kernel/body-text.ts';
import { atPath, plainText } from '#kernel/json-path.ts';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';
import { HttpFailure, type HttpClient, type HttpReply } from '#ports/http-client.ts';
import { withParams } from '#rules/url.ts';
import { isOutageStatus } from '../connections/rules.ts';
import type { RevocationRequest } from './request.ts';

/** The outcome of an attempt. */
export interface RevocationOutcome {
  /** `ended`: the token had ended before; `unavailable`: may pass; `refused`: does not. */
  readonly kind: 'revoked' | 'ended' | 'refused' | 'unavailable';
  readonly providerStatus: number | null;
  /** Short code of the provider, or of a failure of the network. */
  readonly code: string | null;
}

/** Shorter than the lease of an attempt (`limits.revocationLeaseMs`). */
const timeoutMs = 10_000;
const answerBytesMax = 64 * 1024;

/** Codes of tokens that are not valid any more: the access is gone, as it should be. */
const endedCodes = new Set([
  'invalid_token', // Google, Salesforce; RFC 6750 section 3.1
  'invalid_grant', // RFC 6749 section 5.2
  'token_revoked', // Slack, https://docs.slack.dev/reference/methods/auth.revoke
  'token_expired', // Slack
  'invalid_auth', // Slack
  'account_inactive', // Slack
]);

/** Asks the provider to end the token. Its text is not kept, only its status and a short code. */
export async function sendRevocation(
  http: HttpClient,
  request: RevocationRequest,
): Promise<RevocationOutcome> {
  let reply: HttpReply;
  try {
    reply = await http.request(outgoing(request));
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    return { kind: 'unavailable', providerStatus: null, code: error.code };
  }
  const { status } = reply;
  const body = parsed(reply);
  const code = codeOf(body, request);
  const facts = { providerStatus: status, code };
  if (isOutageStatus(status)) return { kind: 'unavailable', ...facts };
  const hasTokenEnded =
    (code !== null && endedCodes.has(code)) || (status === 401 && request.isBearer);
  // An expired access token says nothing of its refresh token.
  if (hasTokenEnded) return { kind: request.isWholeAccess ? 'ended' : 'refused', ...facts };
  // Some providers refuse with 200 and an error in the body.
  const isRefused = code !== null || body?.['ok'] === false;
  return { kind: status >= 200 && status < 300 && !isRefused ? 'revoked' : 'refused', ...facts };
}

function outgoing({ url, method, format, params, headers }: RevocationRequest) {
  const isQuery = format === 'query';
  const type = format === 'json' ? 'application/json' : 'application/x-www-form-urlencoded';
  return {
    method,
    url: isQuery ? withParams(new URL(url), params) : new URL(url),
    headers: {
      accept: 'application/json',
      ...(isQuery ? {} : { 'content-type': type }),
      'user-agent': 'svc',
      ...headers,
    },
    timeoutMs,
    maxBytes: answerBytesMax,
    ...(isQuery ? {} : { body: format === 'json' ? JSON.stringify(params) : formOf(params) }),
  };
}

const formOf = (params: JsonObject): string =>
  new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [name, plainText(value)]),
  ).toString();

function parsed({ body, headers }: HttpReply): JsonObject | null {
  try {
    const value: unknown = JSON.parse(bodyText(body, headers['content-type']));
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Null also where the code repeats something of the request, which may be a secret. */
function codeOf(body: JsonObject | null, request: RevocationRequest): string | null {
  if (body === null) return null;
  const code = [body['error'], atPath(body, 'error.code'), body['error_code']].find(
    (value) => typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value),
  );
  const isRepeated = typeof code === 'string' && JSON.stringify(request).includes(code);
  return typeof code === 'string' && !isRepeated ? code : null;
}
