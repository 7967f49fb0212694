/** A provider whose contacts come in pages, and syncs that save them: what `sync.ts` and `memory.ts` run. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { contact } from './payloads.ts';

export const integration = 'pages';

export interface Page {
  readonly data: readonly object[];
  readonly next: number | null;
}

/**
 * Every page is text before it is asked for: what is measured begins with a request. Pages of another size are empty.
 * @returns its port
 */
export async function servePages(total: number, pageSizes: readonly number[]): Promise<number> {
  const texts = new Map(
    pageSizes.map((limit) => [
      limit,
      Array.from({ length: total / limit }, (_, page): string => {
        const data = Array.from({ length: limit }, (_row, at) => contact(page * limit + at));
        const next = (page + 1) * limit < total ? page + 1 : null;
        return JSON.stringify({ data, next } satisfies Page);
      }),
    ]),
  );
  const server = createServer((asked, response) => {
    const { searchParams } = new URL(asked.url ?? '/', 'http://provider');
    const pages = texts.get(Number(searchParams.get('limit')));
    const text = pages?.[Number(searchParams.get('cursor') ?? 0)] ?? '{"data":[],"next":null}';
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/**
 * The settings of a gateway that knows the provider at this port; its definition is a file in the folder, with more fields
 * where given.
 */
export async function providerEnv(
  folder: string,
  port: number,
  more: object = {},
): Promise<Readonly<Record<string, string>>> {
  const definitions = join(folder, 'providers.json');
  const definition = {
    display_name: 'Pages',
    categories: ['crm'],
    docs: 'https://pages.example',
    auth_mode: 'API_KEY',
    credentials: {
      apiKey: { type: 'string', title: 'API key', description: 'The key.', secret: true },
    },
    proxy: { base_url: `http://127.0.0.1:${port}` },
    ...more,
  };
  await writeFile(definitions, JSON.stringify({ [integration]: definition }));
  return { SVC_PROVIDERS: definitions, SVC_EGRESS_ALLOW: `127.0.0.1:${port}` };
}

export const modelOf = (limit: number): string => `Contact${limit}`;
export const syncOf = (limit: number): string => `pages-${limit}`;

/** A bundle, as the command line makes one. */
const bundleOf = (limit: number): string => `
const { createSync } = require('svc');
const { z } = require('zod');
const ${modelOf(limit)} = z.object({
  id: z.string(), first_name: z.string(), last_name: z.string(), email: z.string(), phone: z.string(),
  company_id: z.number(), stage: z.string(), score: z.number(), is_active: z.boolean(), owner: z.string(),
  updated_at: z.string(), notes: z.string(),
});
exports.default = createSync({
  description: '', version: '1', frequency: 'every day', models: { ${modelOf(limit)} },
  exec: async (svc) => {
    const paginate = {
      type: 'cursor', cursor_name_in_request: 'cursor', cursor_path_in_response: 'next',
      limit_name_in_request: 'limit', limit: ${limit}, response_path: 'data',
    };
    for await (const page of svc.paginate({ endpoint: '/contacts', paginate })) {
      await svc.batchSave(page, '${modelOf(limit)}');
    }
  },
});
`;

export interface Api {
  readonly url: string;
  readonly key: string;
}

export async function called(
  { url, key }: Api,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body?: object,
): Promise<string> {
  const reply = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
  return text;
}

/** The integration, and a sync for each size of page. */
export async function deploy(api: Api, pageSizes: readonly number[]): Promise<void> {
  await called(api, 'POST', '/integrations', { provider: integration, unique_key: integration });
  await called(api, 'POST', '/functions/deployments/bundle', {
    reconciliationScope: { kind: 'environment' },
    functions: pageSizes.map((limit) => ({
      type: 'sync',
      syncName: syncOf(limit),
      providerConfigKey: integration,
      models: [modelOf(limit)],
      runs: 'every day',
      models_json_schema: { definitions: { [modelOf(limit)]: { type: 'object' } } },
      fileBody: { js: bundleOf(limit), ts: bundleOf(limit) },
    })),
  });
}

export interface SyncStatus {
  readonly status: string;
  readonly latestExecutionStatus: string | null;
  readonly finishedAt?: string | null;
  readonly records_readable: boolean;
}

/** The status of the sync with pages of this size. @throws Error when its last run failed */
export async function statusOf(api: Api, id: string, limit: number): Promise<SyncStatus | null> {
  const query = new URLSearchParams({
    provider_config_key: integration,
    connection_id: id,
    syncs: syncOf(limit),
  });
  const text = await called(api, 'GET', `/sync/status?${query.toString()}`);
  const [sync] = (JSON.parse(text) as { syncs: SyncStatus[] }).syncs;
  if (sync?.latestExecutionStatus === 'ERROR') throw new Error(`A run failed: ${text}`);
  return sync ?? null;
}

export async function connect(api: Api, id: string): Promise<string> {
  const credentials = { type: 'API_KEY', apiKey: 'bench' };
  const names = { provider_config_key: integration, connection_id: id };
  await called(api, 'POST', '/connections', { ...names, credentials });
  return id;
}

export async function triggerSync(api: Api, connectionId: string, limit: number): Promise<void> {
  const names = { provider_config_key: integration, connection_id: connectionId };
  await called(api, 'POST', '/sync/trigger', { ...names, syncs: [syncOf(limit)] });
}
