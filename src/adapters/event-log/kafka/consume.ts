import { setImmediate as breathe } from 'node:timers/promises';
import type { Batch } from '../../../ports/event-log.ts';
import type { Feed } from './feed.ts';
import type { Fetcher } from './fetcher.ts';

/**
 * Merges the feeds round robin, one batch of each that has messages; ends with the signal, or when every feed has
 * reached its end. Yields to other work of the thread between batches.
 */
export async function* follow(
  feeds: readonly Feed[],
  fetcher: Fetcher,
  maxBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Batch> {
  let rung = Promise.withResolvers<undefined>();
  const ring = (): void => rung.resolve(undefined);
  signal?.addEventListener('abort', ring);
  const waiting = [...feeds];
  for (const feed of feeds) fetcher.add(feed, ring);
  try {
    while (signal?.aborted !== true && waiting.some((feed) => !feed.isDone)) {
      // Round robin: a partition that returned a batch goes to the end of the queue.
      const index = waiting.findIndex((feed) => feed.isReady);
      if (index < 0) {
        await rung.promise;
        rung = Promise.withResolvers();
        continue;
      }
      const [feed] = waiting.splice(index, 1) as [Feed];
      waiting.push(feed);
      const batch = feed.take(maxBytes);
      fetcher.taken();
      if (batch === null) continue;
      yield batch;
      await breathe();
    }
  } finally {
    signal?.removeEventListener('abort', ring);
    for (const feed of feeds) fetcher.remove(feed);
  }
}
