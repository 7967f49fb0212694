import { PerformanceObserver } from 'node:perf_hooks';

export interface TrimDeps {
  /** Node's, with `--expose-gc`; without it nothing is returned. */
  readonly gc?: typeof globalThis.gc | undefined;
  /** How long the thread has collected no garbage before its memory is returned. Default 10 s. */
  readonly quietMs?: number;
}

/**
 * Returns the memory of this thread after a rush, in 20 to 100 ms. V8 alone collects the young generation for as long as
 * the heap is small, and keeps its pages: old objects would hold what they have outside of it, such as results of
 * ClickHouse. Only the collection of last resort gives the pages back.
 */
export function trimWhenQuiet({ gc = globalThis.gc, quietMs = 10_000 }: TrimDeps = {}): Disposable {
  if (gc === undefined) return { [Symbol.dispose]: () => undefined };
  let trimmedAt = 0;
  const timer = setTimeout(() => {
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    trimmedAt = performance.now();
  }, quietMs).unref();
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(({ startTime }) => startTime > trimmedAt)) timer.refresh();
  });
  observer.observe({ entryTypes: ['gc'] });
  return {
    [Symbol.dispose]: () => {
      observer.disconnect();
      clearTimeout(timer);
    },
  };
}
