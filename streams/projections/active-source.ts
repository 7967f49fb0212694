import type { Dropped, RecordSource } from '../../src/modules/records/reader.ts';

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
        await source.published(partition, offset, signal);
        if (source === active) return;
      }
    },
    onDropped: (listener) => void listeners.push(listener),
    switchTo(source) {
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
