import { useQuery, type UseQueryResult } from '@tanstack/preact-query';
import type { Answer, Client } from '../../../client/index.ts';
import { useAccess } from '../../session/context.tsx';

export const ranges = [
  { id: '1h', minutes: 60, stepMinutes: 2 },
  { id: '24h', minutes: 1_440, stepMinutes: 60 },
  { id: '7d', minutes: 10_080, stepMinutes: 360 },
] as const;

export type Range = (typeof ranges)[number];

interface Outcomes {
  readonly succeeded: number[];
  readonly failed: number[];
}

/** Counts for each step of the range. */
export interface Activity {
  /** Start of each step, seconds since the Unix epoch. */
  readonly times: readonly number[];
  readonly syncs: Outcomes;
  readonly actions: Outcomes;
  /** Records that syncs added, updated and deleted. */
  readonly records: number[];
  /** Null when the key may not read them. */
  readonly webhooks: Outcomes | null;
  /** Whether there was more than was read. */
  readonly isPartial: boolean;
}

/** The runs and webhooks of the range, read in pages of 500 and counted here. */
export function useActivity(range: Range): UseQueryResult<Activity> {
  const { client, key, can } = useAccess();
  const readsWebhooks = can('environment:*');
  return useQuery({
    queryKey: [key.id, 'activity', range.id],
    queryFn: ({ signal }) => readActivity(client, range, readsWebhooks, signal),
    refetchInterval: 30_000,
  });
}

/** Pages of each list that are read at most. */
const pagesAtMost = 6;

async function readActivity(
  client: Client,
  { minutes, stepMinutes }: Range,
  readsWebhooks: boolean,
  signal: AbortSignal,
): Promise<Activity> {
  const step = stepMinutes * 60;
  const count = minutes / stepMinutes;
  const last = Math.floor(new Date().getTime() / 1000 / step) * step;
  const first = last - (count - 1) * step;
  const since = new Date(first * 1000).toISOString();
  const runs = await upTo(
    client.pages('GET /runs', { query: { since, limit: 500 }, signal }),
    ({ data }) => data,
  );
  const messages = readsWebhooks
    ? await upTo(
        client.pages('GET /webhook-messages', { query: { since, limit: 100 }, signal }),
        ({ data }) => data,
      )
    : null;
  const indexOf = (at: string): number =>
    Math.min(count - 1, Math.max(0, Math.floor((new Date(at).getTime() / 1000 - first) / step)));
  return {
    times: Array.from({ length: count }, (_, index) => first + index * step),
    ...countRuns(runs.items, count, indexOf),
    webhooks: messages === null ? null : countWebhooks(messages.items, count, indexOf),
    isPartial: runs.isPartial || messages?.isPartial === true,
  };
}

async function upTo<Page, Item>(
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<{ readonly items: readonly Item[]; readonly isPartial: boolean }> {
  const items: Item[] = [];
  let read = 0;
  for await (const page of pages) {
    if (read === pagesAtMost) return { items, isPartial: true };
    items.push(...itemsOf(page));
    read += 1;
  }
  return { items, isPartial: false };
}

const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);
const outcomes = (count: number): Outcomes => ({ succeeded: zeros(count), failed: zeros(count) });

function add(values: number[], index: number, amount = 1): void {
  values[index] = (values[index] ?? 0) + amount;
}

const failedStates = new Set(['failed', 'timed_out', 'interrupted']);

function countRuns(
  runs: Answer<'GET /runs'>['data'],
  count: number,
  indexOf: (at: string) => number,
): Pick<Activity, 'syncs' | 'actions' | 'records'> {
  const syncs = outcomes(count);
  const actions = outcomes(count);
  const records = zeros(count);
  for (const { kind, status, queued_at: at, counts } of runs) {
    const index = indexOf(at);
    const target = kind === 'action' ? actions : syncs;
    if (status === 'succeeded') add(target.succeeded, index);
    else if (failedStates.has(status)) add(target.failed, index);
    for (const { added, updated, deleted } of Object.values(counts))
      add(records, index, added + updated + deleted);
  }
  return { syncs, actions, records };
}

function countWebhooks(
  messages: Answer<'GET /webhook-messages'>['data'],
  count: number,
  indexOf: (at: string) => number,
): Outcomes {
  const found = outcomes(count);
  for (const { state, created_at: at } of messages)
    if (state === 'delivered') add(found.succeeded, indexOf(at));
    else if (state === 'failed') add(found.failed, indexOf(at));
  return found;
}
