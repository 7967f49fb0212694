import { isSampled, isTracing, processing, startSpan, traceHeader } from '#control-plane/trace.ts';
import type { ReadMessage } from '#ports/event-log.ts';
import type { Span } from '#ports/tracer.ts';

/** Spans of one insert: further messages are inserted without a span. */
const spansMax = 64;

/** Recorded traces of the messages in each open batch, so that their insert is a span of each trace. */
export class BatchTraces<B extends object> {
  readonly #counts = new WeakMap<B, Map<string, number>>();

  /** Call it in the same turn in which the message is added to the batch. */
  note(batch: B, message: Pick<ReadMessage, 'headers'>): void {
    // Headers are decoded on access, which costs a third of decoding the change.
    if (!isTracing()) return;
    const { [traceHeader]: trace } = message.headers;
    if (trace === undefined || !isSampled(trace)) return;
    const counts = this.#counts.get(batch) ?? new Map<string, number>();
    this.#counts.set(batch, counts);
    if (counts.size < spansMax || counts.has(trace)) {
      counts.set(trace, (counts.get(trace) ?? 0) + 1);
    }
  }

  /** Starts a span for each trace of the batch; the caller ends them when the batch is in the tables. */
  begin(batch: B, topic: string): readonly Span[] {
    const counts = this.#counts.get(batch);
    if (counts === undefined) return [];
    this.#counts.delete(batch);
    const spans = [...counts].map(([parent, count]) => {
      const { attributes, ...common } = processing(topic);
      return startSpan(() => ({
        ...common,
        parent,
        attributes: { ...attributes, 'messaging.batch.message_count': count },
      }));
    });
    return spans.filter((span) => span !== null);
  }
}
