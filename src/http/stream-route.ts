import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Cancellation } from '#ports/http-client.ts';
import type { Caller, Credential, RouteError } from './define-route.ts';
import type { Responses } from './responses.ts';

/** @typeParam S the services of its handler */
export interface StreamCall<S = unknown> {
  readonly request: IncomingMessage;
  /** Takes the response body; `begin` writes its head. */
  readonly response: ServerResponse;
  /**
   * Writes the response head, together with the headers of every response: one list at once, which costs a fraction
   * of setting each.
   * @param headers lower-case names alternating with values; none of those of every response
   */
  readonly begin: (status: number, headers: readonly string[], statusText?: string) => void;
  /** Sets a header of the response, whatever the outcome. */
  readonly setHeader: (name: string, value: string) => void;
  /** Path and query below the prefix, undecoded; begins with `/`. For a route with an exact path: the whole of it. */
  readonly target: string;
  readonly caller: Caller;
  readonly services: S;
  /** Aborted when the client disconnects before the end of the response. Created on first access. */
  readonly signal: AbortSignal;
  /** The same at lower cost, for a single listener. */
  readonly cancellation: Cancellation;
  /** Aborted when the server closes, to end a response that has no end of its own. */
  readonly closing: AbortSignal;
}

/**
 * An endpoint whose request and response bodies stream: it reads the request and writes the response itself. The
 * same authorization applies as to other routes: credentials, rate limit, scope.
 */
export interface StreamRoute<S = unknown> {
  /** With a trailing slash: every path below it. Without: exactly this path. */
  readonly prefix: string;
  /** As the contract shows the path. */
  readonly path: string;
  /** As of other routes. */
  readonly keepsSlash?: true;
  readonly methods: readonly string[];
  /** A HEAD is answered as a GET, without its body. */
  readonly takesHead?: boolean;
  readonly credential: Credential;
  readonly scopes: readonly string[];
  readonly summary: string;
  /** As of other routes. */
  readonly description?: string;
  /** Parameters of the path, for a route whose response is passed through. */
  readonly params?: z.ZodObject;
  /** The request headers that it reads. */
  readonly headers: z.ZodObject;
  /** For an exact path; its handler checks it with `checkQuery`. */
  readonly query?: z.ZodObject;
  /** Longest pause between two pieces of its body, which may take any time; without it the body is due as a whole. */
  readonly bodyIdleMs?: number;
  /** The successful responses; without it the response is passed through. */
  readonly answers?: Responses;
  /** Codes besides those that the request pipeline returns on every route (`pipelineErrors`). */
  readonly errors: readonly RouteError[];
  /** As of other routes; default: if it has a method other than GET. */
  readonly writes?: boolean;
  /** An exception before the response head is answered like any other; after it the connection is cut. */
  handle(call: StreamCall<S>): Promise<void>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a table holds routes of every type
export type AnyStreamRoute = StreamRoute<any>;
