import type { Logger } from 'pino';
import type { Coordination } from '#ports/coordination.ts';
import type { DroppedStreams } from './reader.ts';

const channel = 'records';
/** Published changes are collected into one message per this time. */
const gatherMs = 10;

/** `name` is that of the projection's generation. */
type Notification = { readonly from: string; readonly name: string } & (
  | { readonly published: readonly (readonly [partition: number, next: number])[] }
  | { readonly dropped: DroppedStreams }
);

/** A subscriber to one generation. */
export interface ProjectionListener {
  /** Another process has made the changes before the offset readable. */
  readonly published?: (partition: number, next: number) => void;
  /** Data read from these streams must be dropped. */
  readonly dropped?: (streams: DroppedStreams) => void;
}

/**
 * Notifications of projectors to readers of the same tables in other processes, at most once. When one is lost, a
 * webhook waits for the table of positions and read-ahead chunks live for their 5 s: time, never data.
 */
export interface ProjectionNotifications extends AsyncDisposable {
  notifyPublished(name: string, partition: number, next: number): void;
  notifyDropped(name: string, streams: DroppedStreams): void;
  /** Until the returned function is called. */
  subscribe(name: string, listener: ProjectionListener): () => void;
}

export async function openProjectionNotifications(deps: {
  readonly coordination: Coordination;
  /** Name of this process: it ignores its own notifications. */
  readonly node: string;
  readonly logger: Pick<Logger, 'warn'>;
}): Promise<ProjectionNotifications> {
  const { coordination, node: from, logger } = deps;
  const listeners = new Set<{ readonly name: string; readonly listener: ProjectionListener }>();
  const gathered = new Map<string, Map<number, number>>();
  let timer: NodeJS.Timeout | null = null;

  const publish = (notifications: Notification): void => {
    coordination.publish(channel, JSON.stringify(notifications)).catch((err: unknown) => {
      logger.warn({ err }, 'other processes were not told what can be read');
    });
  };
  const notifyGathered = (): void => {
    timer = null;
    for (const [name, published] of gathered) publish({ from, name, published: [...published] });
    gathered.clear();
  };
  const subscription = await coordination.subscribe(channel, (message) => {
    const news = JSON.parse(message) as Notification;
    if (news.from === from) return;
    for (const { name, listener } of listeners) if (name === news.name) pass(news, listener);
  });

  return {
    notifyPublished(name, partition, next) {
      gathered.set(name, (gathered.get(name) ?? new Map<number, number>()).set(partition, next));
      timer ??= setTimeout(notifyGathered, gatherMs);
    },
    notifyDropped: (name, dropped) => publish({ from, name, dropped }),
    subscribe(name, listener) {
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

function pass(notifications: Notification, { published, dropped }: ProjectionListener): void {
  if ('dropped' in notifications) dropped?.(notifications.dropped);
  else for (const [partition, next] of notifications.published) published?.(partition, next);
}
