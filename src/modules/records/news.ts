import type { Logger } from 'pino';
import type { Coordination } from '../../ports/coordination.ts';
import type { Dropped } from './reader.ts';

const channel = 'records';
/** What is published is told in one message per so long. */
const gatherMs = 10;

/** `name` is that of the projection's generation. */
type News = { readonly from: string; readonly name: string } & (
  | { readonly published: readonly (readonly [partition: number, next: number])[] }
  | { readonly dropped: Dropped }
);

/** Who wants to hear of one generation. */
export interface NewsListener {
  /** Another process has made the changes before the offset readable. */
  readonly published?: (partition: number, next: number) => void;
  /** What was read of these streams must be forgotten. */
  readonly dropped?: (streams: Dropped) => void;
}

/**
 * What projectors tell those who read the same tables in other processes, at most once. Where it is lost a
 * webhook waits for the table of positions, and what was read ahead lives its 5 s: time, never data.
 */
export interface RecordNews extends AsyncDisposable {
  tellPublished(name: string, partition: number, next: number): void;
  tellDropped(name: string, streams: Dropped): void;
  /** Until the returned function is called. */
  hear(name: string, listener: NewsListener): () => void;
}

export async function openRecordNews(deps: {
  readonly coordination: Coordination;
  /** Name of this process: what it told itself is not heard again. */
  readonly node: string;
  readonly logger: Pick<Logger, 'warn'>;
}): Promise<RecordNews> {
  const { coordination, node: from, logger } = deps;
  const listeners = new Set<{ readonly name: string; readonly listener: NewsListener }>();
  const gathered = new Map<string, Map<number, number>>();
  let timer: NodeJS.Timeout | null = null;

  const tell = (news: News): void => {
    coordination.publish(channel, JSON.stringify(news)).catch((err: unknown) => {
      logger.warn({ err }, 'other processes were not told what can be read');
    });
  };
  const tellGathered = (): void => {
    timer = null;
    for (const [name, published] of gathered) tell({ from, name, published: [...published] });
    gathered.clear();
  };
  const subscription = await coordination.subscribe(channel, (message) => {
    const news = JSON.parse(message) as News;
    if (news.from === from) return;
    for (const { name, listener } of listeners) if (name === news.name) pass(news, listener);
  });

  return {
    tellPublished(name, partition, next) {
      gathered.set(name, (gathered.get(name) ?? new Map<number, number>()).set(partition, next));
      timer ??= setTimeout(tellGathered, gatherMs);
    },
    tellDropped: (name, dropped) => tell({ from, name, dropped }),
    hear(name, listener) {
      const entry = { name, listener };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    async [Symbol.asyncDispose]() {
      if (timer !== null) clearTimeout(timer);
      await subscription[Symbol.asyncDispose]();
    },
  };
}

function pass(news: News, { published, dropped }: NewsListener): void {
  if ('dropped' in news) dropped?.(news.dropped);
  else for (const [partition, next] of news.published) published?.(partition, next);
}
