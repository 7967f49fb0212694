/** The role of a span in its trace, as OpenTelemetry defines span kinds. */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

/**
 * Names follow the semantic conventions of OpenTelemetry for HTTP and messaging. No value is a secret, a path, a query
 * or a payload: paths of some providers contain tokens.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  /** `traceparent` of the parent (W3C Trace Context); null: the span starts a trace. */
  readonly parent: string | null;
  readonly attributes?: SpanAttributes;
}

/** A part of the work of a trace. A span that is not sampled has all methods and no effect. */
export interface Span {
  /** Of this span, for its children in other threads and services (W3C Trace Context). */
  readonly traceparent: string;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks the span as failed. `type` is a code or the name of an error, never its message. */
  fail(type: string): void;
  /** Must be called once. */
  end(): void;
}

/** Starts spans; never fails, and never blocks on their export. */
export interface Tracer {
  start(span: SpanStart): Span;
}
