/**
 * An embedded log gets more partitions while it is read: `reads-go-on.ts [records] [from] [to]`. Readers scan every
 * stream from the start to the end, again and again, at one address, behind which a process that only reads and then the
 * new installation take over; a writer sets a variable. How long each step takes, the longest time that a reader
 * had no page, the time in which writes were refused, and the records that a scan lacked or had twice.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Stream } from '#modules/records/model/stream.ts';
import { openFrontDoor } from '#test/support/fakes/front-door.ts';
import { caughtUp, copyLog } from '#test/support/judges/reads-go-on.ts';
import { accessTo } from '#test/support/processes/gateway.ts';
import { transfer } from '#test/support/processes/transfer.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { report, round, withFolder } from './measure.ts';
import type { Told } from './repartition.ts';

const readersCount = 4;
const pageSize = 1000;
const readPauseMs = 20;
const writePauseMs = 100;
/** Of reading and writing before the move and after it. */
const beforeAndAfterMs = 3_000;

interface Page {
  readonly records: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
}

/** What readers and writer have at the address of the gateway, until `end`. */
class Clients {
  isEnding = false;
  scans = 0;
  reads = 0;
  refusedReads = 0;
  lost = 0;
  doubled = 0;
  readGapMaxMs = 0;
  writeGapMaxMs = 0;
  readonly unexpected = new Set<number>();
  readonly #url: string;
  readonly #told: Told;
  readonly #perStream: readonly number[];

  constructor(url: string, told: Told, perStream: readonly number[]) {
    this.#url = url;
    this.#told = told;
    this.#perStream = perStream;
  }

  #send(path: string, { connectionId, integration }: Stream, init: RequestInit = {}) {
    const names = { 'provider-config-key': integration, 'connection-id': connectionId };
    const headers = { authorization: `Bearer ${this.#told.key}`, ...names };
    return fetch(this.#url + path, {
      ...init,
      headers: { ...headers, 'content-type': 'application/json' },
    });
  }

  async read(at: number): Promise<void> {
    const { streams } = this.#told;
    let answeredAt = performance.now();
    const page = async (stream: Stream, cursor: string | null): Promise<Page | null> => {
      const query = new URLSearchParams({ model: stream.model, limit: String(pageSize) });
      if (cursor !== null) query.set('cursor', cursor);
      while (!this.isEnding) {
        const answer = await this.#send(`/records?${query.toString()}`, stream);
        const text = await answer.text();
        this.reads += 1;
        await sleep(readPauseMs);
        if (answer.status === 200) {
          this.readGapMaxMs = Math.max(this.readGapMaxMs, performance.now() - answeredAt);
          answeredAt = performance.now();
          return JSON.parse(text) as Page;
        }
        this.refusedReads += 1;
        if (answer.status !== 503) this.unexpected.add(answer.status);
      }
      return null;
    };
    for (let turn = at; !this.isEnding; turn += 1) {
      const number = turn % streams.length;
      const ids = new Set<string>();
      let records = 0;
      for (let cursor: string | null = null; ;) {
        const found: Page | null = await page(streams[number]!, cursor);
        if (found === null) return;
        records += found.records.length;
        for (const { id } of found.records) ids.add(id);
        cursor = found.next_cursor;
        if (cursor === null) break;
      }
      this.scans += 1;
      this.doubled += records - ids.size;
      this.lost += this.#perStream[number]! - ids.size;
    }
  }

  async write(): Promise<void> {
    const [stream] = this.#told.streams;
    let acceptedAt = performance.now();
    for (let value = 0; !this.isEnding; value += 1) {
      const init = { method: 'PUT', body: JSON.stringify({ value: String(value) }) };
      const answer = await this.#send('/environment-variables/BENCH', stream!, init);
      await answer.arrayBuffer();
      if (answer.ok) {
        this.writeGapMaxMs = Math.max(this.writeGapMaxMs, performance.now() - acceptedAt);
        acceptedAt = performance.now();
      } else if (answer.status !== 503) this.unexpected.add(answer.status);
      await sleep(writePauseMs);
    }
  }
}

const [records = '200000', from = '4', to = '8'] = process.argv.slice(2);

await withFolder(async (folder) => {
  await using stack = new AsyncDisposableStack();
  const [former, next] = [join(folder, 'former'), join(folder, 'next')];
  const filling = fileURLToPath(new URL('./repartition.ts', import.meta.url));
  execFileSync(process.execPath, [...process.execArgv, filling, 'fill', former, records, from], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const told = JSON.parse(readFileSync(join(former, 'told.json'), 'utf8')) as Told;
  const keys = { key: told.key, prodKey: '', accountKey: told.accountKey };
  const start = async (dataDir: string, env: Readonly<Record<string, string>>) =>
    stack.use(await startGatewayProcess(dataDir, { SVC_RATE_LIMIT_PER_MINUTE: '0', ...env }));
  const door = stack.use(await openFrontDoor());
  const gateway = await start(former, { SVC_PARTITIONS: from });
  door.leadTo(gateway);
  const perStream = told.streams.map(() => 0);
  for (let first = 0; first < Number(records); first += pageSize) {
    perStream[(first / pageSize) % perStream.length]! += pageSize;
  }
  const clients = new Clients(door.url, told, perStream);
  const running = [
    ...Array.from({ length: readersCount }, (_, at) => clients.read(at)),
    clients.write(),
  ];
  for (const one of running) one.catch(() => undefined);
  await sleep(beforeAndAfterMs);

  const steps: Record<string, number> = {};
  const timed = async <T>(name: string, work: () => PromiseLike<T>): Promise<T> => {
    const started = performance.now();
    const done = await work();
    steps[`${name}_s`] = round((performance.now() - started) / 1000);
    return done;
  };
  const began = performance.now();
  door.leadTo(null);
  await timed('stop', () => gateway[Symbol.asyncDispose]());
  await timed('cp', () => copyLog(former, next));
  const reading = await timed('reading', () =>
    start(former, { SVC_READ_ONLY: 'yes', SVC_PARTITIONS: from }),
  );
  door.leadTo(reading);
  await timed('copy', () => transfer('repartition', to, next, { SVC_PARTITIONS: from }));
  const grown = await timed('ready', () => start(next, { SVC_PARTITIONS: to }));
  await timed('readable', () => caughtUp(accessTo(grown.url, keys, () => undefined)));
  door.leadTo(grown);
  await reading[Symbol.asyncDispose]();
  const move_s = round((performance.now() - began) / 1000);
  await sleep(beforeAndAfterMs);
  clients.isEnding = true;
  await Promise.all(running);
  const { scans, reads, refusedReads, lost, doubled, unexpected } = clients;
  if (unexpected.size > 0) throw new Error(`answered ${[...unexpected].join(', ')}`);
  report({
    records: Number(records),
    from: Number(from),
    to: Number(to),
    ...steps,
    move_s,
    read_gap_max_s: round(clients.readGapMaxMs / 1000),
    write_gap_max_s: round(clients.writeGapMaxMs / 1000),
    scans,
    reads,
    refused_reads: refusedReads,
    lost,
    doubled,
  });
});
