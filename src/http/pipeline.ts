import type { IncomingMessage } from 'node:http';
import type { AnyRoute, Caller, RouteAnswer } from './define-route.ts';
import type { Match } from './router.ts';

export interface PipelineCall {
  readonly request: IncomingMessage;
  readonly match: Match;
  /** Text after `?`. */
  readonly search: string;
  /** Address of the client. */
  readonly address: string;
  readonly signal: AbortSignal;
  /** Sets a header of the answer, whatever the outcome. */
  setHeader(name: string, value: string): void;
}

/** What authorization reads of a route. */
export type Guarded = Pick<
  AnyRoute,
  'credential' | 'scopes' | 'isUnlimited' | 'takesConnectToken' | 'tokenIn'
>;

/** A request that is to be authorized. */
export interface Authorization extends Omit<PipelineCall, 'match' | 'search' | 'signal'> {
  readonly route: Guarded;
  /** Needed where the token stands in the query. */
  readonly search?: string;
}

/** What stands between the server and the handlers; the server knows no more of it. */
export interface RequestPipeline extends AsyncDisposable {
  /** Runs the handler of the route that was found. @throws GatewayError what refuses the request */
  handleRequest(call: PipelineCall): Promise<RouteAnswer>;
  /**
   * Who calls, counted against the rate limit; at once where nobody has to be asked. The scope is not checked.
   * @throws GatewayError 401, 429
   */
  authorize(call: Authorization): Caller | Promise<Caller>;
}

/** The caller of a route that takes no credential. */
export const anonymous: Caller = {
  credential: 'none',
  environmentUid: '',
  keyId: '',
  scopes: [],
  actor: 'anonymous',
  has: () => false,
};
