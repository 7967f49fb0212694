import { AsyncLocalStorage } from 'node:async_hooks';
import { randomFillSync } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { HttpFailure } from '#ports/http-client.ts';
import type { Span, SpanStart, Tracer } from '#ports/tracer.ts';

/** The header of HTTP and of messages that names a trace (W3C Trace Context). */
export const traceHeader = 'traceparent';

const traceForm = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}/;
/** Version 00 ends here; a later version may continue after a hyphen. */
const traceChars = 55;

const running = new AsyncLocalStorage<string>();

/** Of this thread; null while tracing is off. */
let tracer: Tracer | null = null;

/** Turns the spans of this thread on, or off with null. */
export const useTracer = (used: Tracer | null): void => {
  tracer = used;
};

/** Whether this thread records spans. */
export const isTracing = (): boolean => tracer !== null;

/** The trace that the header names, without the additions of later versions; a new trace if it names none. */
export const traceOf = (header: string | undefined): string => namedTrace(header) ?? newTrace();

function namedTrace(header: string | undefined): string | null {
  const isTrace =
    header !== undefined &&
    traceForm.test(header) &&
    (header.length === traceChars || (!header.startsWith('00') && header[traceChars] === '-'));
  return isTrace ? `00${header.slice(2, traceChars)}` : null;
}

/** Random bytes are drawn for many traces at once. */
const drawn = Buffer.alloc(24 * 512);
let used = drawn.length;

/** No caller requested sampling: not sampled. */
function newTrace(): string {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const text = drawn.toString('hex', used, used + 24);
  used += 24;
  return `00-${text.slice(0, 32)}-${text.slice(32)}-00`;
}

/** Runs `task` and everything that follows from it in the trace. */
export const inTrace = <T>(trace: string, task: () => T): T => running.run(trace, task);

/** The current trace, with the current span as the parent of what follows; a new one outside of any. */
export const currentTrace = (): string => running.getStore() ?? newTrace();

/** For messages that belong to the trace. */
export const traceHeaders = (trace = currentTrace()): { readonly [traceHeader]: string } => ({
  [traceHeader]: trace,
});

/** The current trace if its spans are recorded: for messages that carry a trace only then. */
export function sampledTrace(): string | null {
  if (tracer === null) return null;
  const trace = running.getStore();
  return trace !== undefined && isSampled(trace) ? trace : null;
}

/** Whether the header names a trace whose spans are recorded. */
export const isSampled = (trace: string): boolean =>
  (Number.parseInt(trace.slice(-2), 16) & 1) === 1;

/** Fields of a log line that belongs to a trace; none while tracing is off. */
export function traceFields(): { readonly trace_id?: string } {
  const trace = tracer === null ? undefined : running.getStore();
  return trace === undefined ? {} : { trace_id: trace.slice(3, 35) };
}

/** A span before it starts; its parent is the current span, unless it names one, or null for a trace of its own. */
export type SpanDescription = Omit<SpanStart, 'parent'> & { readonly parent?: string | null };

/** Starts a span, which the caller ends; null while tracing is off. */
export function startSpan(describe: () => SpanDescription): Span | null {
  if (tracer === null) return null;
  const description = describe();
  const { parent = running.getStore() ?? null } = description;
  return tracer.start({ ...description, parent });
}

/** As `startSpan`, for the span of a request whose header may name its parent. */
export function startSpanOf(
  header: string | undefined,
  describe: () => Omit<SpanStart, 'parent'>,
): Span | null {
  return startSpan(() => ({ ...describe(), parent: namedTrace(header) }));
}

/**
 * Runs `task` in a span that ends with it, and with the promise that it returns. An exception marks the span as failed.
 * While tracing is off, `task` receives null and nothing else happens.
 */
export function inSpan<T>(describe: () => SpanDescription, task: (span: Span | null) => T): T {
  const span = startSpan(describe);
  return span === null ? task(null) : running.run(span.traceparent, () => ending(span, task));
}

function ending<T>(span: Span, task: (span: Span) => T): T {
  let result: T;
  try {
    result = task(span);
  } catch (error) {
    span.fail(errorType(error));
    span.end();
    throw error;
  }
  if (!(result instanceof Promise)) {
    span.end();
    return result;
  }
  result.then(
    () => span.end(),
    (error: unknown) => {
      span.fail(errorType(error));
      span.end();
    },
  );
  return result;
}

/** The `error.type` of a span: a code or a name, because the message may quote values. */
export function errorType(error: unknown): string {
  if (error instanceof GatewayError || error instanceof HttpFailure) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

/** Spans of messages that are decided together; they last until their transaction is durable. */
export class ReceivedSpans {
  readonly #spans: Span[] = [];

  /** Starts the span of a message. Returns the trace of what follows from the message. */
  begin(trace: string, describe: () => Omit<SpanStart, 'parent'>): string {
    const span = startSpan(() => ({ ...describe(), parent: trace }));
    if (span === null) return trace;
    this.#spans.push(span);
    return span.traceparent;
  }

  /** Ends all spans with the task. */
  async during(task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      for (const span of this.#spans) span.fail(errorType(error));
      throw error;
    } finally {
      for (const span of this.#spans) span.end();
    }
  }
}

/** The span of a consumer that processes a message of the topic, by the conventions of messaging. */
export const processing = (
  topic: string,
  fields: { readonly partition?: number; readonly offset?: number; readonly group?: string } = {},
): Omit<SpanStart, 'parent'> => ({
  name: `process ${topic}`,
  kind: 'consumer',
  attributes: {
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': topic,
    ...(fields.partition === undefined
      ? {}
      : { 'messaging.destination.partition.id': String(fields.partition) }),
    ...(fields.offset === undefined ? {} : { 'messaging.kafka.offset': fields.offset }),
    ...(fields.group === undefined ? {} : { 'messaging.consumer.group.name': fields.group }),
  },
});

/** Runs `task`, which appends to the topic, in the span of a producer if it belongs to a recorded trace. */
export function inSendSpan<T>(topic: string, partition: number, task: () => T): T {
  if (sampledTrace() === null) return task();
  const attributes = {
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.destination.name': topic,
    'messaging.destination.partition.id': String(partition),
  };
  return inSpan(() => ({ name: `send ${topic}`, kind: 'producer', attributes }), task);
}
