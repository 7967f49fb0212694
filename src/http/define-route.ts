import type { z } from 'zod';
import type { GatewayError } from '../kernel/errors.ts';
import type { Responses } from './responses.ts';
import type { RouteError } from './route-errors.ts';

/** What a route takes: a key of one environment or of the account, the token of a connect session, or nothing. */
export type Credential = 'environment' | 'account' | 'connect' | 'none';

/** What a route may read of the connect session of its caller. */
export interface CallerSession {
  readonly id: string;
  /** Unique keys of the integrations that it allows; empty: all. */
  readonly allowedIntegrations: readonly string[];
}

/** Who calls. `environmentUid` comes from the key or the token, never from the request. */
export interface Caller {
  readonly credential: Credential;
  /** Empty for account keys and open routes. */
  readonly environmentUid: string;
  readonly keyId: string;
  readonly scopes: readonly string[];
  /** Of the credential `connect`. */
  readonly session?: CallerSession;
  /** `key:<id>`, or `user:session-<id>` of a connect session; for events and the audit. */
  readonly actor: string;
  /** Whether the key holds the scope (wildcards as in docs/reference/http.md#scopes). */
  has(scope: string): boolean;
}

/** What a client repeats: its key, and a keyed hash of what it sent. */
export interface IdempotentCall {
  readonly idempotencyKey: string;
  readonly requestHash: string;
}

/** Spread into the options of a command: the owner answers a repeated key as the first time. */
export interface Idempotency extends IdempotentCall {
  /**
   * UUID of the work. A node that goes on where another one was lost gets the same: what is begun under it is begun once.
   */
  readonly workId: string;
}

type Schema = z.ZodType;
type Parsed<S extends Schema | undefined> = S extends Schema ? z.output<S> : Record<string, never>;

export interface RouteInput<
  Q extends Schema | undefined,
  B extends Schema | undefined,
  H extends Schema | undefined,
  P extends Schema | undefined,
  S,
> {
  readonly query: Parsed<Q>;
  readonly body: Parsed<B>;
  readonly headers: Parsed<H>;
  readonly params: Parsed<P>;
  readonly caller: Caller;
  readonly services: S;
  /** Aborted when the client goes away before it has the answer. */
  readonly signal: AbortSignal;
  /** The client's `Idempotency-Key` with a keyed hash of what it sent; absent when it sent none. */
  readonly idempotency?: Idempotency;
}

export interface RouteAnswer {
  readonly status: number;
  /** An object becomes JSON; bytes go out as they are (JSON text unless a header says otherwise). Absent = no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An endpoint as data: also feeds docs/reference/http.md, the scope tests and the OpenAPI document.
 * Absent `query` means any query key is refused; absent `body` means none is read.
 */
export interface Route<
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  H extends Schema | undefined = undefined,
  P extends Schema | undefined = undefined,
  S = unknown,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with `{name}` for parameters, as in the contract. */
  readonly path: string;
  readonly credential: Credential;
  /** The token of a connect session passes as well; its only scope is `environment:integrations:list`. */
  readonly takesConnectToken?: true;
  /** Where the token of a connect session stands; in the header when absent. */
  readonly tokenIn?: 'query';
  /** Any one of these passes; empty = any key of the right kind. `environment:` or `account:` included. */
  readonly scopes: readonly string[];
  readonly summary: string;
  readonly query?: Q;
  readonly body?: B;
  readonly headers?: H;
  readonly params?: P;
  /** What it answers, by status, when it does not refuse. */
  readonly answers?: Responses;
  /** Codes besides those that the request pipeline returns on every route (`pipelineErrors`). */
  readonly errors: readonly RouteError[];
  /** There is another endpoint in its place; every answer has the header `Deprecation: true`. */
  readonly isDeprecated?: true;
  /** The page for a person whose browser navigated here and was refused; without it the refusal is JSON. */
  readonly refusalPage?: (error: GatewayError, search: string, services: S) => Promise<RouteAnswer>;
  /** Set where no rate limit counts: probes of orchestrators. */
  readonly isUnlimited?: true;
  handle(input: RouteInput<Q, B, H, P, S>): Promise<RouteAnswer>;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a table holds routes of every type
export type AnyRoute = Route<any, any, any, any, any>;

/** Makes the `defineRoute` of the handlers that are given the services `S`. */
export const routesWith =
  <S>() =>
  <
    Q extends Schema | undefined = undefined,
    B extends Schema | undefined = undefined,
    H extends Schema | undefined = undefined,
    P extends Schema | undefined = undefined,
  >(
    route: Route<Q, B, H, P, S>,
  ): Route<Q, B, H, P, S> =>
    route;
