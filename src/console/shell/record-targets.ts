import { pathOf } from '../data/route.ts';
import { syncsOf } from '../data/syncs.ts';
import type { Access } from '../session/context.tsx';
import type { Target } from './target.ts';

/** The connection whose page is open; null on another page. */
export function openConnection([page, integration, connection]: readonly string[]) {
  if (page !== 'connections' || integration === undefined || connection === undefined) return null;
  return { integration, connection };
}

type OpenConnection = NonNullable<ReturnType<typeof openConnection>>;

/** The records of the connection that have this id, of each model one. */
export async function recordsOf(
  { client, can, path }: Access,
  name: OpenConnection,
  id: string,
  signal: AbortSignal,
): Promise<readonly Target[]> {
  const canList = can('environment:functions:list');
  const syncs = await syncsOf(client, name, { canList, signal });
  const models = new Map(
    syncs.flatMap(({ variant, recordCount }) =>
      Object.keys(recordCount).map((model) => [
        JSON.stringify([model, variant]),
        { model, variant },
      ]),
    ),
  );
  const { integration, connection } = name;
  const headers = { 'provider-config-key': integration, 'connection-id': connection };
  const page = path(`${pathOf('connections', integration, connection)}/records`);
  const found = [...models.values()].map(async ({ model, variant }) => {
    const query = { model, variant, ids: [id], limit: 1 };
    const { records } = await client.request('GET /records', { headers, query, signal });
    return records.map((): Target => {
      const search = new URLSearchParams({ model, variant, id }).toString();
      const detail = variant === 'base' ? model : `${model} · ${variant}`;
      return {
        id: `record ${model} ${variant}`,
        group: 'Records of this connection',
        label: id,
        detail,
        icon: 'database',
        href: `${page}?${search}`,
      };
    });
  });
  return (await Promise.all(found)).flat();
}
