import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Client, Input, WebhookMessage } from '#client/index.ts';

const askEveryMs = 1_000;
/** The order in which two nodes record webhooks may differ from the order of their times. */
const overlapMs = 10_000;
const pageSize = 1000;

export type HeardWebhook = Answer<'GET /webhook-messages/{id}'>['data'];

type Query = NonNullable<Input<'GET /webhook-messages'>['query']>;
export type WebhookFilter = Pick<Query, 'kind' | 'provider_config_key' | 'connection_id'>;

/** New webhooks of the service, each once, until the signal aborts. @throws ApiError */
export async function* webhookFeed(
  client: Client,
  filter: WebhookFilter,
  signal: AbortSignal,
): AsyncGenerator<HeardWebhook> {
  const query = { ...filter, limit: 1 };
  const [newest] = (await client.request('GET /webhook-messages', { query })).data;
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
    for (const id of fresh) {
      yield (await client.request('GET /webhook-messages/{id}', { params: { id } })).data;
    }
  }
}

async function idsSince(
  client: Client,
  filter: WebhookFilter,
  newest: string | undefined,
): Promise<Set<string>> {
  if (newest === undefined) return new Set();
  const since = new Date(Date.parse(newest) - overlapMs).toISOString();
  return new Set((await all(client, { ...filter, since })).map(({ id }) => id));
}

/** Newest first, of all pages. */
async function all(client: Client, filter: Query): Promise<WebhookMessage[]> {
  const query = { ...filter, limit: pageSize };
  const pages = await Array.fromAsync(client.pages('GET /webhook-messages', { query }));
  return pages.flatMap(({ data }) => data);
}
