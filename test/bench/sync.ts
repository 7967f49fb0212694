/**
 * The whole way of a sync, provider over HTTP → sandbox → save → readable: `sync.ts [plain|sealed] [records] [rounds]
 * [rows of a page…]`. Its floor: the same pages fetched by undici and parsed, nothing saved. `…_us` is the processor time
 * per record, summed over the threads of the gateway and its children; the provider is a process of its own, whose time does
 * not count. `unchanged`: the sync runs once more, and the provider has nothing new.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request, type Dispatcher } from 'undici';
import { environmentByName } from '#modules/access/environments/queries.ts';
import { syncRef } from '#modules/functions/syncs/entity.ts';
import type { LastRun } from '#modules/functions/syncs/state.ts';
import { treeCpuMs } from '#test/support/processes/processor-time.ts';
import { percentile, report, round, withFolder, type Figures } from './measure.ts';
import { startNode, type BenchNode } from './node.ts';
import {
  connect,
  deploy,
  integration,
  modelOf,
  providerEnv,
  servePages,
  syncOf,
  triggerSync,
  type Page,
} from './paged-provider.ts';

const isProvider = process.send !== undefined;
const [mode = 'plain', count = '20000', turns = '3', ...sizes] = process.argv.slice(2);
const total = Number(count);
const pageSizes = sizes.length === 0 ? [100, 1000] : sizes.map(Number);

async function serve(): Promise<void> {
  process.send?.(await servePages(total, pageSizes));
  await once(process, 'disconnect');
  process.exit();
}

/** Until the sync has ended and every change of it can be read. */
async function synced(node: BenchNode, connectionId: string, limit: number): Promise<LastRun> {
  const { services } = node.running;
  const environmentUid = environmentByName(services.control, 'dev')?.uid ?? '';
  const ref = syncRef([environmentUid, integration, connectionId], syncOf(limit), 'base');
  const lastRun = () => services.control.view.find(ref)?.last ?? null;
  const before = lastRun()?.runId;
  await triggerSync(node, connectionId, limit);
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
  try {
    const env = await providerEnv(folder, port);
    await using node = await startNode(folder, mode === 'sealed' ? 'sealed' : 'plain', env);
    await deploy(node, pageSizes);
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
