/**
 * The whole way of a sync, provider over HTTP → sandbox → save → readable: `sync.ts [plain|sealed] [records] [rounds]
 * [rows of a page…]`. Its floor: the same pages fetched by undici and parsed, nothing saved. `…_us` is the processor time
 * per record, summed over the threads of the gateway and its children; the provider is a process of its own, whose time does
 * not count. `unchanged`: the sync runs once more, and the provider has nothing new.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request, type Dispatcher } from 'undici';
import { environmentByName } from '../../src/modules/access/environments/queries.ts';
import { syncRef } from '../../src/modules/functions/syncs/entity.ts';
import type { LastRun, SyncInstance } from '../../src/modules/functions/syncs/state.ts';
import { treeCpuMs } from '../support/processor-time.ts';
import { percentile, report, round, withFolder, type Figures } from './measure.ts';
import { startNode, type BenchNode } from './node.ts';
import { contact } from './payloads.ts';

const isProvider = process.send !== undefined;
const [mode = 'plain', count = '20000', turns = '3', ...sizes] = process.argv.slice(2);
const total = Number(count);
const pageSizes = sizes.length === 0 ? [100, 1000] : sizes.map(Number);
const integration = 'pages';

interface Page {
  readonly data: readonly object[];
  readonly next: number | null;
}

/** Every page is text before it is asked for: what is measured begins with a request. */
async function serve(): Promise<void> {
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
    const text = pages?.[Number(searchParams.get('cursor') ?? 0)] ?? '';
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.((server.address() as AddressInfo).port);
  await once(process, 'disconnect');
  process.exit();
}

const modelOf = (limit: number): string => `Contact${limit}`;
const syncOf = (limit: number): string => `pages-${limit}`;

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

async function called(node: BenchNode, method: 'GET' | 'POST', path: string, body?: object) {
  const reply = await fetch(`${node.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${node.key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
  return text;
}

async function deploy(node: BenchNode): Promise<void> {
  await called(node, 'POST', '/integrations', { provider: integration, unique_key: integration });
  await called(node, 'POST', '/functions/deployments/bundle', {
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

async function connect(node: BenchNode, id: string): Promise<string> {
  const credentials = { type: 'API_KEY', apiKey: 'bench' };
  const names = { provider_config_key: integration, connection_id: id };
  await called(node, 'POST', '/connections', { ...names, credentials });
  return id;
}

/** Until the sync has ended and every change of it can be read. */
async function synced(node: BenchNode, connectionId: string, limit: number): Promise<LastRun> {
  const { services } = node.running;
  const environmentUid = environmentByName(services.control, 'dev')?.uid ?? '';
  const ref = syncRef([environmentUid, integration, connectionId], syncOf(limit), 'base');
  const lastRun = () => services.control.view.find<SyncInstance>('sync', ref.path)?.last ?? null;
  const before = lastRun()?.runId;
  const names = { provider_config_key: integration, connection_id: connectionId };
  await called(node, 'POST', '/sync/trigger', { ...names, syncs: [syncOf(limit)] });
  for (;;) {
    const last = lastRun();
    if (last === null || last.runId === before) await wait(5);
    else if (last.status !== 'succeeded') throw new Error(JSON.stringify(last.error));
    else {
      for (const { partition, offset } of last.positions ?? [])
        await services.records.reader.published(partition, offset, AbortSignal.timeout(60_000));
      return last;
    }
  }
}

async function fetched(port: number, limit: number, agent: Agent): Promise<void> {
  for (let cursor: number | null = 0; cursor !== null;) {
    const url: string = `http://127.0.0.1:${port}/contacts?limit=${limit}&cursor=${cursor}`;
    const reply: Dispatcher.ResponseData = await request(url, { dispatcher: agent });
    cursor = ((await reply.body.json()) as Page).next;
  }
}

/** Rates and processor time by name; each figure is the median of its rounds. */
class Samples {
  readonly #provider: ChildProcess;
  readonly #values = new Map<string, number[]>();

  constructor(provider: ChildProcess) {
    this.#provider = provider;
  }

  async take(name: string, work: () => Promise<unknown>): Promise<void> {
    const cpuBefore = this.#cpuMs();
    const started = performance.now();
    await work();
    const seconds = (performance.now() - started) / 1000;
    this.#note(`${name}_per_s`, total / seconds);
    // What follows a change in the background, such as merges of the tables, is part of its price.
    await wait(1000);
    this.#note(`${name}_us`, ((this.#cpuMs() - cpuBefore) * 1000) / total);
  }

  figures(): Figures {
    const all = [...this.#values].map(([name, values]) => [name, round(percentile(values, 50), 1)]);
    return Object.fromEntries(all) as Figures;
  }

  #cpuMs = (): number => treeCpuMs(process.pid) - treeCpuMs(this.#provider.pid ?? 0);

  #note(name: string, value: number): void {
    this.#values.set(name, [...(this.#values.get(name) ?? []), value]);
  }
}

async function measure(folder: string): Promise<Figures> {
  const args = [mode, count, turns, ...pageSizes.map(String)];
  const provider = fork(fileURLToPath(import.meta.url), args);
  const [port] = (await once(provider, 'message')) as [number];
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
  };
  await writeFile(definitions, JSON.stringify({ [integration]: definition }));
  try {
    const env = { SVC_PROVIDERS: definitions, SVC_EGRESS_ALLOW: `127.0.0.1:${port}` };
    await using node = await startNode(folder, mode === 'sealed' ? 'sealed' : 'plain', env);
    await deploy(node);
    const agent = new Agent();
    const samples = new Samples(provider);
    for (let turn = 0; turn <= Number(turns); turn += 1) {
      // Code that has not run yet costs more, and a gateway runs for days.
      const taken = turn === 0 ? new Samples(provider) : samples;
      const id = await connect(node, `c-${turn}`);
      for (const limit of pageSizes) {
        await taken.take(`floor_${limit}`, () => fetched(port, limit, agent));
        await taken.take(`sync_${limit}`, async () => {
          const { counts } = await synced(node, id, limit);
          const added = counts[modelOf(limit)]?.added;
          if (added !== total) throw new Error(`${added} of ${total} records were added`);
        });
        await taken.take(`unchanged_${limit}`, () => synced(node, id, limit));
      }
    }
    await agent.close();
    return samples.figures();
  } finally {
    provider.disconnect();
  }
}

if (isProvider) await serve();
else await withFolder(async (folder) => report(await measure(folder)));
