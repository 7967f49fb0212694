import type { z } from 'zod';
import { type GatewayError, catalogue, type ErrorCode } from '#kernel/errors.ts';
import { secondMs, type Instant } from '#kernel/time.ts';
import type { Responses } from './responses.ts';

/**
 * The credential that a route requires: a key of one environment or of the account, either of them (`key`), the token
 * of a connect session, or none.
 */
export type Credential = 'environment' | 'account' | 'key' | 'connect' | 'none';

/** What a route may read of the caller's connect session. */
interface CallerSession {
  readonly id: string;
  /** Unique keys of the allowed integrations; empty: all. */
  readonly allowedIntegrations: readonly string[];
}

/** The caller. `environmentUid` comes from the key or the token, never from the request. */
export interface Caller {
  readonly credential: Exclude<Credential, 'key'>;
  /** Empty for account keys and unauthenticated routes. */
  readonly environmentUid: string;
  /** Id of the key, of the connect session, or of the person. */
  readonly keyId: string;
  /** The person who acts through the console. */
  readonly personId?: string;
  readonly scopes: readonly string[];
  /** Present for the credential `connect`. */
  readonly session?: CallerSession;
  /** Keyed hash of the secret that the caller sent, of a key alone. */
  readonly secretHash?: string;
  /** The session of the console in whose name the key acts. */
  readonly consoleSessionId?: string;
  /** Name and version of the program that calls by MCP, as it states them; for the audit trail. */
  readonly agent?: string;
  /** `key:<id>`, `user:<id>` of a person, or `user:session-<id>` of a connect session; for events and the audit trail. */
  readonly actor: string;
  /** Whether the key holds the scope (wildcards as in docs/reference/http.md#scopes). */
  has(scope: string): boolean;
  /** Why the caller has none of the scopes, and what helps; absent for a key. */
  explainMissing?(scopes: readonly string[]): { readonly message: string; readonly fix: string };
}

/** Identifies a repeated request: the client's key, and a keyed hash of the request. */
export interface IdempotentCall {
  readonly idempotencyKey: string;
  readonly requestHash: string;
}

/** Spread into the options of a command: the owner repeats the reply for a repeated key. */
export interface Idempotency extends IdempotentCall {
  /** UUID of the work. A node that continues after another one failed gets the same id, so that work is begun once. */
  readonly workId: string;
}

type Schema = z.ZodType;
type ParsedInput<S extends Schema | undefined> = S extends Schema
  ? z.output<S>
  : Record<string, never>;

export interface RouteInput<
  Q extends Schema | undefined,
  B extends Schema | undefined,
  H extends Schema | undefined,
  P extends Schema | undefined,
  S,
> {
  readonly query: ParsedInput<Q>;
  readonly body: ParsedInput<B>;
  readonly headers: ParsedInput<H>;
  readonly params: ParsedInput<P>;
  readonly caller: Caller;
  readonly services: S;
  /** Address of the client. */
  readonly address: string;
  /** Aborted when the client disconnects before it has the response. */
  readonly signal: AbortSignal;
  /** The client's `Idempotency-Key` with a keyed hash of the request; absent without the header. */
  readonly idempotency?: Idempotency;
}

export interface RouteAnswer {
  readonly status: number;
  /** An object becomes JSON; bytes are sent unchanged (JSON text unless a header says otherwise). Absent = no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An endpoint as data: also feeds docs/reference/http.md, the scope tests and the OpenAPI document.
 * Absent `query` means any query key is refused; absent `body` means none is read.
 */
/** When another endpoint replaced this one, and from when on it may be removed. */
export interface Deprecation {
  readonly since: Instant;
  readonly sunset: Instant;
}

/** `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). */
export const headersOfDeprecation = ({
  since,
  sunset,
}: Deprecation): Readonly<Record<string, string>> => ({
  deprecation: `@${since / secondMs}`,
  sunset: new Date(sunset).toUTCString(),
});

interface Route<
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  H extends Schema | undefined = undefined,
  P extends Schema | undefined = undefined,
  S = unknown,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with `{name}` for parameters, as in the contract. */
  readonly path: string;
  /** The last parameter of the path takes the rest of it, slashes included, also if that is empty. */
  readonly takesRest?: true;
  /** A slash at the end of its path counts; of other paths it is removed (docs/reference/http.md#paths). */
  readonly keepsSlash?: true;
  readonly credential: Credential;
  /** The token of a connect session is accepted too; its only scope is `environment:integrations:list`. */
  readonly takesConnectToken?: true;
  /** Where the token of a connect session is; default: in the header. */
  readonly tokenIn?: 'query';
  /** Any one of these suffices; empty = any key of the right kind. `environment:` or `account:` included. */
  readonly scopes: readonly string[];
  readonly summary: string;
  /** What the summary leaves open: effects, units, defaults, what happens next. Markdown. */
  readonly description?: string;
  readonly query?: Q;
  readonly body?: B;
  /** Default: JSON. `form`: application/x-www-form-urlencoded, as the submitted page of another site. */
  readonly bodyFormat?: 'form';
  readonly headers?: H;
  readonly params?: P;
  /** The successful responses, by status. */
  readonly answers?: Responses;
  /** Codes besides those that the request pipeline returns on every route (`pipelineErrors`). */
  readonly errors: readonly RouteError[];
  /**
   * Whether it appends to the log or acts at a provider, so that a process that only reads refuses it; default: every
   * method but GET does.
   */
  readonly writes?: boolean;
  /** Another endpoint replaces this one; every response has the headers `Deprecation` and `Sunset`. */
  readonly deprecation?: Deprecation;
  /** The page for a refused browser navigation; without it, or with null, the refusal is JSON. */
  readonly refusalPage?: (
    error: GatewayError,
    search: string,
    services: S,
  ) => Promise<RouteAnswer | null>;
  /** Exempt from the rate limit: probes of orchestrators. */
  readonly isUnlimited?: true;
  handle(input: RouteInput<Q, B, H, P, S>): Promise<RouteAnswer>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a table holds routes of every type
export type AnyRoute = Route<any, any, any, any, any>;

/** Returns the `defineRoute` of handlers that receive the services `S`. */
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

/** An error code of a route; with a status if it differs from the catalog's. */
export type RouteError = ErrorCode | { readonly code: ErrorCode; readonly status: number };

/** Some codes have a status of their own on some routes (docs/reference/errors.md#codes-with-other-statuses). */
export const errorAt = (status: number, code: ErrorCode): RouteError => ({ code, status });

export const codeOf = (error: RouteError): ErrorCode =>
  typeof error === 'string' ? error : error.code;

export const statusOf = (error: RouteError): number =>
  typeof error === 'string' ? catalogue[error].status : error.status;
