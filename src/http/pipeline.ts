import type { IncomingMessage } from 'node:http';
import type { AnyRoute, Caller, RouteAnswer } from './define-route.ts';
import type { Match } from './router.ts';
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
