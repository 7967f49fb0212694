/**
 * `node test/bench/changes.ts [embedded|kafka] [plain|sealed] [records]`: changes over HTTP to one consumer, by pages, through
 * a subscription that commits each page, and as lines. The consumer is a process of its own, as the gateway is.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { startKafka } from '#test/services/kafka.ts';
import { startRedis } from '#test/services/redis.ts';
import { startRegistry } from '#test/services/registry.ts';
import { report, seconds, withFolder, type Figures } from './measure.ts';
import { startNode, type BenchNode } from './node.ts';
import { contact } from './payloads.ts';
import { batchesOf, rates } from './save-rates.ts';

/** Connections, which are spread over the partitions of the log. */
const connections = 8;
const subscription = '/subscriptions/bench';

/** A consumer's requests to a gateway. */
class Consumer {
  readonly #agent = new Agent({ connections: 1, pipelining: 1 });
  readonly #url: string;
  readonly #key: string;
  readonly #total: number;

  constructor(url: string, key: string, total: number) {
    this.#url = url;
    this.#key = key;
    this.#total = total;
  }

  async figures(): Promise<Figures> {
    // The first walk warms up.
    await this.#byPages(1_000);
    const figures = {
      pages_100_changes_per_s: await this.#byPages(100),
      pages_1000_changes_per_s: await this.#byPages(1_000),
      pages_10000_changes_per_s: await this.#byPages(10_000),
      subscription_1000_changes_per_s: await this.#bySubscription(1_000),
      lines_changes_per_s: await this.#byLines(),
    };
    await this.#agent.close();
    return figures;
  }

  #ask(method: 'GET' | 'PUT' | 'POST', path: string, body?: object, accept = 'application/json') {
    return request(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        accept,
        'content-type': 'application/json',
      },
      body: body === undefined ? null : JSON.stringify(body),
      dispatcher: this.#agent,
    });
  }

  async #page(path: string) {
    const { body } = await this.#ask('GET', path);
    return (await body.json()) as { changes: object[]; cursor: string; has_more: boolean };
  }

  async #byPages(limit: number): Promise<number> {
    let changes = 0;
    const took = await seconds(async () => {
      for (let cursor = '', hasMore = true; hasMore;) {
        const at = cursor === '' ? '' : `&cursor=${cursor}`;
        const page = await this.#page(`/changes?limit=${limit}${at}`);
        changes += page.changes.length;
        ({ cursor, has_more: hasMore } = page);
      }
    });
    return this.#rate(changes, took);
  }

  async #bySubscription(limit: number): Promise<number> {
    const made = await this.#ask('PUT', subscription, {});
    await made.body.dump();
    let changes = 0;
    const took = await seconds(async () => {
      for (let hasMore = true; hasMore;) {
        const page = await this.#page(`${subscription}/changes?limit=${limit}`);
        const committed = await this.#ask('POST', `${subscription}/commit`, {
          cursor: page.cursor,
        });
        await committed.body.dump();
        changes += page.changes.length;
        hasMore = page.has_more;
      }
    });
    return this.#rate(changes, took);
  }

  async #byLines(): Promise<number> {
    let changes = 0;
    const took = await seconds(async () => {
      const { body } = await this.#ask('GET', '/changes/stream', undefined, 'application/x-ndjson');
      let rest = '';
      for await (const piece of body.setEncoding('utf8') as AsyncIterable<string>) {
        const lines = (rest + piece).split('\n');
        rest = lines.pop() ?? '';
        changes += lines.filter((line) => !line.startsWith('{"cursor"')).length;
        if (changes >= this.#total) break;
      }
    });
    return this.#rate(changes, took);
  }

  #rate(changes: number, took: number): number {
    if (changes !== this.#total) throw new Error(`read ${changes} of ${this.#total} changes`);
    return Math.round(changes / took);
  }
}

async function kafkaEnv(stack: AsyncDisposableStack): Promise<Record<string, string>> {
  const kafka = stack.use(await startKafka());
  const registry = stack.use(await startRegistry());
  const redis = stack.use(await startRedis());
  return {
    SVC_LOG_URL: kafka.url,
    SVC_REGISTRY_URL: registry.url,
    SVC_REDIS_URL: redis.url,
    SVC_TOPIC_PREFIX: 'bench',
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
}

async function fill(node: BenchNode, total: number): Promise<void> {
  const { writer } = node.running.services.records;
  const streams = await Promise.all(Array.from({ length: connections }, () => node.newStream()));
  const batches = batchesOf((index) => contact(index), total);
  await rates(node, streams, batches, (stream, origin, batch) =>
    writer.save(stream, origin, batch),
  );
}

async function serve(log: string, payloadMode: string, total: number): Promise<void> {
  await withFolder(async (folder) => {
    await using stack = new AsyncDisposableStack();
    const env = log === 'kafka' ? await kafkaEnv(stack) : {};
    await using node = await startNode(folder, payloadMode === 'sealed' ? 'sealed' : 'plain', env);
    await fill(node, total);
    const file = fileURLToPath(import.meta.url);
    const args = [file, 'consume', node.url, String(total), node.key];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    report(JSON.parse(stdout) as Figures);
  });
}

const [mode = 'embedded', ...args] = process.argv.slice(2);
if (mode === 'consume') {
  const [url = '', total, key = ''] = args;
  report(await new Consumer(url, key, Number(total)).figures());
} else await serve(mode, args[0] ?? 'plain', Number(args[1] ?? 100_000));
