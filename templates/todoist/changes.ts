import type { SvcSync } from 'svc';

interface Changes<Item> {
  items: Item[];
  token: string;
  /** Everything came, though only changes were asked for. */
  isFull: boolean;
}

/** Asks for everything. */
const firstToken = '*';

interface Response {
  sync_token: string;
  full_sync: boolean;
}

/** What has changed since the token; empty: all that is not deleted, completed or archived. */
export async function changesOf<Item extends { id: string }>(
  svc: Pick<SvcSync, 'post'>,
  type: 'items' | 'projects',
  token: string,
): Promise<Changes<Item>> {
  const changes = await responseOf<Item>(svc, type, token);
  if (!changes.isFull) return changes;
  // Everything may be of an earlier time in a big account: what is newer comes after its token.
  const newer = await responseOf<Item>(svc, type, changes.token);
  const items = new Map([...changes.items, ...newer.items].map((item) => [item.id, item]));
  return { items: [...items.values()], token: newer.token, isFull: true };
}

async function responseOf<Item>(
  svc: Pick<SvcSync, 'post'>,
  type: 'items' | 'projects',
  token: string,
): Promise<Changes<Item>> {
  const { data } = await svc.post<Response & Record<string, Item[]>>({
    endpoint: '/api/v1/sync',
    data: new URLSearchParams({
      sync_token: token || firstToken,
      resource_types: JSON.stringify([type]),
    }),
    retries: 5,
  });
  return { items: data[type] ?? [], token: data.sync_token, isFull: data.full_sync };
}
