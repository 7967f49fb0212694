import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Caller, Credential } from './define-route.ts';
import type { RouteError } from './route-errors.ts';
import type { Services } from './services.ts';

export interface StreamCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Path and query below the prefix, as they came; begins with `/`. */
  readonly target: string;
  readonly caller: Caller;
  readonly services: Services;
  /** Aborted when the client goes away before it has the whole answer. */
  readonly signal: AbortSignal;
}

/**
 * An endpoint whose body and answer stream: it reads the request and writes the answer itself. It passes the
 * same gate as every other: credentials, rate limit, scope.
 */
export interface StreamRoute {
  /** Every path below it, with a slash at the end. */
  readonly prefix: string;
  /** As the contract shows the path. */
  readonly path: string;
  readonly methods: readonly string[];
  readonly credential: Credential;
  readonly scopes: readonly string[];
  readonly summary: string;
  /** What it reads of the request's headers. */
  readonly headers: z.ZodObject;
  /** Codes besides those that the gate answers on every route (`gateErrors`). */
  readonly errors: readonly RouteError[];
  /** A throw before the head of the answer is answered like any other; after it the connection is cut. */
  handle(call: StreamCall): Promise<void>;
}
