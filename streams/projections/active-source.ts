import { setTimeout as sleep } from 'node:timers/promises';
import type { Dropped, RecordSource } from '../../src/modules/records/reader.ts';

/** Other nodes may read the former generation for so long: who waits to read waits for both. */
const formerReadMs = 30_000;

export interface ActiveSource extends RecordSource {
  /** From now on this one is read; what was read of the other is forgotten. */
  switchTo(source: RecordSource): void;
  /** Passes on what a source that may be read loses. */
  watch(source: RecordSource): void;
}

/** Reads the generation that is active, and goes over to another between two questions. */
export function createActiveSource(first: RecordSource): ActiveSource {
  const listeners: ((streams: Dropped) => void)[] = [];
  let active = first;
  let former: { readonly source: RecordSource; readonly until: number } | null = null;
  const tell = (streams: Dropped): void => {
    for (const listener of listeners) listener(streams);
  };

  return {
    async slice(query) {
      const source = active;
      const slice = await source.slice(query);
      // Drops are heard from the active one alone: this slice may have missed its own.
      return source === active ? slice : { ...slice, isKeepable: false };
    },
    positionOf: (stream, cursor) => active.positionOf(stream, cursor),
    counts: (streams) => active.counts(streams),
    async published(partition, offset, signal) {
      for (;;) {
        const source = active;
        await Promise.all([
          source.published(partition, offset, signal),
          former === null ? null : whileRead(former, partition, offset),
        ]);
        if (source === active) return;
      }
    },
    onDropped: (listener) => void listeners.push(listener),
    switchTo(source) {
      former = { source: active, until: performance.now() + formerReadMs };
      active = source;
      tell('all');
    },
    watch(source) {
      source.onDropped((streams) => {
        if (source === active) tell(streams);
      });
    },
  };
}

/** Resolves when the former generation shows the changes, or is read no more. */
async function whileRead(
  { source, until }: { readonly source: RecordSource; readonly until: number },
  partition: number,
  offset: number,
): Promise<void> {
  const leftMs = until - performance.now();
  if (leftMs <= 0) return;
  const ending = new AbortController();
  const { signal } = ending;
  const expired = sleep(leftMs, undefined, { signal, ref: false });
  const shown = source.published(partition, offset, signal);
  // The one that loses ends by the abort.
  await Promise.race([expired, shown]).finally(() => ending.abort());
  await Promise.allSettled([expired, shown]);
}
