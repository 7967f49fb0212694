/**
 * `node test/bench/http-clients.ts [seconds [rounds]]`: forwarded requests over our HTTP/1.1 client (ADR 26) and over
 * undici's `dispatch`, in one process against nginx with 1 KB, 32 at a time, in turns of some seconds (2) for several
 * rounds (7). Both pass status, header pairs and pieces of the body to the same sink. The ratio is the median over rounds.
 */
import { buildConnector, Pool, type Dispatcher } from 'undici';
import { forwardOver } from '#adapters/http-client/forward.ts';
import { ConnectionPool } from '#adapters/http-client/http1/pool.ts';
import type { AnswerSink, ForwardRequest } from '#ports/http-client.ts';
import { startFileServer } from '#test/support/processes/nginx.ts';
import { percentile, report, round } from './measure.ts';

const [seconds = '2', rounds = '9'] = process.argv.slice(2);
const concurrency = 32;
const bytes = 1024;

/** Counts what it is given. */
class Sink implements AnswerSink {
  received = 0;

  headers: readonly string[] = [];

  head(status: number, _text: string, headers: readonly string[]): boolean {
    this.headers = headers;
    if (status !== 200) throw new Error(`answered ${status}`);
    return true;
  }

  data(piece: Uint8Array): boolean {
    this.received += piece.length;
    return true;
  }

  check(): void {
    if (this.received !== bytes) throw new Error(`${this.received} bytes instead of ${bytes}`);
  }
}

/** Names in lower case and values in turn. */
const pairsOf = (raw: readonly Buffer[]): string[] =>
  raw.map((part, at) =>
    at % 2 === 0 ? part.toString('latin1').toLowerCase() : part.toString('latin1'),
  );

interface Turn {
  readonly perSecond: number;
  readonly processorUs: number;
}

async function turn(call: () => Promise<Sink>): Promise<Turn> {
  const until = performance.now() + Number(seconds) * 1000;
  const before = process.cpuUsage();
  const started = performance.now();
  let calls = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      (await call()).check();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  const { user, system } = process.cpuUsage(before);
  const perSecond = (1000 * calls) / (performance.now() - started);
  return { perSecond, processorUs: (user + system) / calls };
}

await using upstream = await startFileServer({ '1kb': bytes });
const url = new URL('/1kb', upstream.url);
const headers = Object.freeze({ authorization: 'Bearer injected', accept: '*/*' });

using ours = new ConnectionPool(buildConnector({}));
const request: ForwardRequest = {
  method: 'GET',
  url,
  headers,
  body: null,
  streamBytes: null,
  isDecoded: false,
  headTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  deadline: Number.POSITIVE_INFINITY,
  cancellation: { isCancelled: false, listener: null },
};
const overOurs = async (): Promise<Sink> => {
  const sink = new Sink();
  const cancellation = { isCancelled: false, listener: null };
  await forwardOver(ours, { ...request, cancellation }, () => sink);
  return sink;
};

const theirs = new Pool(upstream.url, {
  connections: concurrency,
  pipelining: 1,
  bodyTimeout: 0,
  headersTimeout: 0,
});
const options: Dispatcher.DispatchOptions = {
  origin: url.origin,
  path: url.pathname,
  method: 'GET',
  headers,
};
const overUndici = (): Promise<Sink> =>
  new Promise((resolve, reject) => {
    const sink = new Sink();
    theirs.dispatch(options, {
      onRequestStart: () => undefined,
      onResponseStart(controller, status) {
        const raw = (controller as unknown as { rawHeaders: Buffer[] }).rawHeaders;
        sink.head(status, '', pairsOf(raw));
      },
      onResponseData: (_, piece) => void sink.data(piece),
      onResponseEnd: () => resolve(sink),
      onResponseError: (_, error) => reject(error),
    });
  });

const turns: { ours: Turn; undici: Turn }[] = [];
// The first turn of each warms up.
for (let at = 0; at <= Number(rounds); at += 1) {
  const pair = { ours: await turn(overOurs), undici: await turn(overUndici) };
  if (at > 0) turns.push(pair);
}
await theirs.destroy();
const median = (of: (pair: (typeof turns)[number]) => number): number =>
  percentile(turns.map(of), 50);
report({
  ours_per_s: Math.round(median(({ ours }) => ours.perSecond)),
  undici_per_s: Math.round(median(({ undici }) => undici.perSecond)),
  ours_processor_us: round(
    median(({ ours }) => ours.processorUs),
    1,
  ),
  undici_processor_us: round(
    median(({ undici }) => undici.processorUs),
    1,
  ),
  ours_pct_of_undici: round(
    median((pair) => (100 * pair.ours.perSecond) / pair.undici.perSecond),
    1,
  ),
});
