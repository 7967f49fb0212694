import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { JsonObject } from '#kernel/stable-json.ts';

/** A source of imports without integrations, whose connections are read by cursor. */
export interface PagedSource extends AsyncDisposable {
  readonly url: string;
  readonly mappingFile: string;
  readonly requests: number;
}

const list = {
  path: '/connections',
  items: 'items',
  cursor: { parameter: 'cursor', at: 'next' },
};
const fields = { connection_id: 'connection_id', provider_config_key: 'provider_config_key' };
const mapping = {
  integrations: { list: { path: '/integrations', items: 'items' }, fields: {} },
  connections: { list, fields },
};

/** @param pageAfter the page after a cursor; of the first page it is empty */
export async function openPagedSource(
  folder: string,
  pageAfter: (cursor: string) => { readonly items: JsonObject[]; readonly next: string | null },
): Promise<PagedSource> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://source');
    const isList = pathname === list.path;
    const body = isList ? pageAfter(searchParams.get('cursor') ?? '') : { items: [] };
    response.end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const mappingFile = join(folder, 'paged-source.json');
  writeFileSync(mappingFile, JSON.stringify(mapping));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mappingFile,
    get requests() {
      return requests;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
