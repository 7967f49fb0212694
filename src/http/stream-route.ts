import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Responses } from './responses.ts';
import type { Caller, Credential } from './define-route.ts';
import type { RouteError } from './route-errors.ts';
import type { Cancellation } from '../ports/http-client.ts';

/** @typeParam S what its handler is given to work with */
export interface StreamCall<S = unknown> {
  readonly request: IncomingMessage;
  /** Takes the body of the answer; its head is written by `begin`. */
  readonly response: ServerResponse;
  /**
   * Writes the head of the answer, together with the headers that every answer has: one list in one go, which costs
   * the server a fraction of setting each.
   * @param headers names in lower case and values in turn; none of those that every answer has
   */
  readonly begin: (status: number, headers: readonly string[], statusText?: string) => void;
  /** Sets a header of the answer, whatever the outcome. */
  readonly setHeader: (name: string, value: string) => void;
  /** Path and query below the prefix, as they came; begins with `/`. Of a path that stands alone: the whole of it. */
  readonly target: string;
  readonly caller: Caller;
  readonly services: S;
  /** Aborted when the client goes away before it has the whole answer. Made when it is first asked for. */
  readonly signal: AbortSignal;
  /** The same as a plain check, which costs less than a signal. */
  readonly cancellation: Cancellation;
  /** Aborted when the server closes: an answer that has no end of its own ends then. */
  readonly closing: AbortSignal;
}

/**
 * An endpoint whose body and answer stream: it reads the request and writes the answer itself. It passes the
 * same gate as every other: credentials, rate limit, scope.
 */
export interface StreamRoute<S = unknown> {
  /** With a slash at the end: every path below it. Without: this path alone. */
  readonly prefix: string;
  /** As the contract shows the path. */
  readonly path: string;
  readonly methods: readonly string[];
  readonly credential: Credential;
  readonly scopes: readonly string[];
  readonly summary: string;
  /** What it reads of the request's headers. */
  readonly headers: z.ZodObject;
  /** Of a path that stands alone; its handler checks it with `checkQuery`. */
  readonly query?: z.ZodObject;
  /** Between two pieces of its body, which may take as long as it comes; without it the body is due as a whole. */
  readonly bodyIdleMs?: number;
  /** What it answers when it does not refuse; without it the answer is another's. */
  readonly answers?: Responses;
  /** Codes besides those that the request pipeline returns on every route (`pipelineErrors`). */
  readonly errors: readonly RouteError[];
  /** A throw before the head of the answer is answered like any other; after it the connection is cut. */
  handle(call: StreamCall<S>): Promise<void>;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a table holds routes of every type
export type AnyStreamRoute = StreamRoute<any>;
