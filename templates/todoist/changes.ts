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
export async function changesOf<Item>(
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
