import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../../kernel/stable-json.ts';
import type { ApiClient } from '../client.ts';
import { queryOf } from '../service-command.ts';

const askEveryMs = 1_000;
/** The order in which two nodes record webhooks may differ from the order of their times. */
const overlapMs = 10_000;
const pageSize = '1000';

/** @see src/modules/webhooks/webhooks-out/shapes.ts */
interface ListedWebhook {
  readonly id: string;
  readonly created_at: string;
}

/** @see src/modules/webhooks/webhooks-out/shapes.ts */
export interface HeardWebhook {
  readonly id: string;
  readonly kind: string;
  readonly payload: Json;
  readonly deliveries: readonly {
    readonly provider_config_key: string | null;
    readonly connection_id: string | null;
    readonly created_at: string;
  }[];
}

export type WebhookFilter = Readonly<
  Record<'kind' | 'provider_config_key' | 'connection_id', string | undefined>
>;

/** New webhooks of the service, each once, until the signal aborts. @throws ApiError */
export async function* webhookFeed(
  client: ApiClient,
  filter: WebhookFilter,
  signal: AbortSignal,
): AsyncGenerator<HeardWebhook> {
  const [newest] = await listed(client, { ...filter, limit: '1' });
  let since = newest?.created_at;
  let existing = await idsSince(client, filter, since);
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    await pause(askEveryMs, undefined, { signal }).catch(() => undefined);
    if (isOver()) return;
    const found = await all(client, { ...filter, since });
    const fresh = [...new Set(found.map(({ id }) => id).reverse())].filter(
      (id) => !existing.has(id),
    );
    existing = new Set(found.map(({ id }) => id));
    const last = found[0]?.created_at;
    if (last !== undefined) since = new Date(Date.parse(last) - overlapMs).toISOString();
    for (const id of fresh) yield await shown(client, id);
  }
}

async function idsSince(
  client: ApiClient,
  filter: WebhookFilter,
  newest: string | undefined,
): Promise<Set<string>> {
  if (newest === undefined) return new Set();
  const since = new Date(Date.parse(newest) - overlapMs).toISOString();
  return new Set((await all(client, { ...filter, since })).map(({ id }) => id));
}

/** Newest first, of all pages. */
async function all(
  client: ApiClient,
  query: Readonly<Record<string, string | undefined>>,
): Promise<ListedWebhook[]> {
  const found: ListedWebhook[] = [];
  let cursor: string | undefined;
  do {
    const page = await pageOf(client, { ...query, limit: pageSize, cursor });
    found.push(...page.data);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

const listed = async (
  client: ApiClient,
  query: Readonly<Record<string, string | undefined>>,
): Promise<readonly ListedWebhook[]> => (await pageOf(client, query)).data;

interface Page {
  readonly data: readonly ListedWebhook[];
  readonly next_cursor: string | null;
}

/** The shapes are the service's promise. */
const pageOf = async (
  client: ApiClient,
  query: Readonly<Record<string, string | undefined>>,
): Promise<Page> =>
  (await client.call('GET', `/webhook-messages${queryOf(query)}`)) as unknown as Page;

async function shown(client: ApiClient, id: string): Promise<HeardWebhook> {
  const answer = await client.call('GET', `/webhook-messages/${encodeURIComponent(id)}`);
  return (answer as unknown as { data: HeardWebhook }).data;
}
