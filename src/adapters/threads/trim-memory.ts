import { PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface TrimDeps {
  /** How long the thread has collected no garbage before its memory is returned. Default 10 s. */
  readonly quietMs?: number;
  /** Frees what the thread keeps outside of the heap; called when its memory is returned. */
  readonly free?: () => void;
}

/**
 * Returns the memory of this thread after a rush, in 20 to 100 ms. V8 alone collects the young generation for as long as
 * the heap is small, and keeps its pages: old objects would hold what they have outside of it, such as results of
 * ClickHouse. Only the collection of last resort gives the pages back.
 */
export function trimWhenQuiet({
  quietMs = 10_000,
  free = () => undefined,
}: TrimDeps = {}): Disposable {
  let trimmedAt = 0;
  const timer = setTimeout(() => {
    const collect = collector();
    if (collect === null) {
      timer.refresh();
      return;
    }
    free();
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
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

/**
 * The collector of this thread, which V8 exposes to new contexts while a flag of the process is on. Code that was
 * compiled under other flags is of no use, that of Node itself and that of the compile cache: with the flag in the
 * command each thread would compile it at its start. Null if another thread has turned the flag off in between.
 */
function collector(): NodeJS.GCFunction | null {
  setFlagsFromString('--expose-gc');
  const found = runInNewContext('globalThis.gc') as NodeJS.GCFunction | undefined;
  setFlagsFromString('--no-expose-gc');
  return found ?? null;
}
