import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '#kernel/errors.ts';
import type { AnyRoute, Caller, RouteAnswer, RouteError } from './define-route.ts';
import type { Match } from './router.ts';
import { takesConsoleCookie } from './same-origin.ts';
import type { AnyStreamRoute } from './stream-route.ts';

export interface PipelineCall {
  readonly request: IncomingMessage;
  readonly match: Match;
  /** Text after `?`. */
  readonly search: string;
  /** Address of the client. */
  readonly address: string;
  readonly signal: AbortSignal;
  /** Sets a header of the response, whatever the outcome. */
  setHeader(name: string, value: string): void;
}

/** The fields of a route that authorization reads. */
export type RouteGuards = Pick<
  AnyRoute,
  'path' | 'credential' | 'scopes' | 'isUnlimited' | 'takesConnectToken' | 'tokenIn' | 'writes'
> &
  (Pick<AnyRoute, 'method'> | Pick<AnyStreamRoute, 'methods'>);

/** Whether a process that only reads refuses the route (`Route.writes`). */
export function isWriting(route: RouteGuards): boolean {
  const methods = 'method' in route ? [route.method] : route.methods;
  return route.writes ?? methods.some((method) => method !== 'GET');
}

/** A request to authorize. */
export interface Authorization extends Omit<PipelineCall, 'match' | 'search' | 'signal'> {
  readonly route: RouteGuards;
  /** Required if the token is in the query. */
  readonly search?: string;
}

/** The steps between the server and the handlers, hidden from the server. */
export interface RequestPipeline extends AsyncDisposable {
  /** Runs the handler of the matched route. @throws GatewayError the refusal of the request */
  handleRequest(call: PipelineCall): Promise<RouteAnswer>;
  /**
   * The caller, counted against the rate limit; synchronous if no I/O is needed. The scope is not checked.
   * @throws GatewayError 401, 429
   */
  authorize(call: Authorization): Caller | Promise<Caller>;
}

/** The caller of a route without a credential. */
export const anonymous: Caller = {
  credential: 'none',
  environmentUid: '',
  keyId: '',
  scopes: [],
  actor: 'anonymous',
  has: () => false,
};

/** Any dependency may be away; no route lists these codes itself. */
const outages: readonly ErrorCode[] = [
  'command_expired',
  'coordination_unavailable',
  'log_full',
  'log_unavailable',
  'projection_damaged',
  'projection_unavailable',
  'read_only',
  'registry_unavailable',
  'root_key_missing',
  'writer_fenced',
];

const ofToken = ['invalid_connect_session_token_format', 'unknown_connect_session_token'] as const;

/** Refusals of the request pipeline, before the handler of any route (`handleRequest`). */
export function pipelineErrors(route: AnyRoute | AnyStreamRoute): readonly RouteError[] {
  const isStream = 'prefix' in route;
  const [limited, keyed, sent] = [!isUnlimited(route), route.credential !== 'none', !isStream];
  return [
    ...(keyed ? credentialErrors(route) : []),
    ...(limited ? (['too_many_request', 'server_error', ...outages] as const) : []),
    ...(sent ? (['invalid_content_type', 'invalid_query_params'] as const) : []),
    ...(sent ? partErrors(route as AnyRoute) : []),
  ];
}

const isUnlimited = (route: AnyRoute | AnyStreamRoute): boolean => 'isUnlimited' in route;

function credentialErrors(route: AnyRoute | AnyStreamRoute): readonly RouteError[] {
  if ('tokenIn' in route) {
    return ['missing_public_key', 'deprecated_authentication', ...ofToken];
  }
  return [
    'missing_auth_header',
    'malformed_auth_header',
    'invalid_secret_key_format',
    'unknown_account',
    'expired_api_key',
    ...ofToken,
    'forbidden',
    ...(takesConsoleCookie(route)
      ? (['unknown_console_session', 'invalid_csrf_token'] as const)
      : []),
  ];
}

function partErrors(route: AnyRoute): readonly RouteError[] {
  const changes = route.method !== 'GET';
  return [
    ...(route.body === undefined
      ? []
      : (['invalid_json', 'invalid_body', 'request_too_large'] as const)),
    ...(route.params === undefined ? [] : (['invalid_uri_params'] as const)),
    ...(route.headers !== undefined || changes ? (['invalid_headers'] as const) : []),
    ...(changes && route.credential !== 'none'
      ? (['idempotency_conflict', 'conflict'] as const)
      : []),
  ];
}
