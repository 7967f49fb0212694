/**
 * `node test/bench/proxy.ts [seconds [rounds]]`: the proxy beside nginx's `proxy_pass` and a direct call, in turns
 * of some seconds (3) for several rounds (5), so that what else the machine does falls on all alike. The figures
 * are medians over the rounds; nginx and wrk are packages of the distribution.
 */
import { programs } from '#cli/run-program.ts';
import { run } from '#test/services/commands.ts';
import { installPackages } from '#test/services/packages.ts';
import { startFileServer, startForwarder } from '#test/support/processes/nginx.ts';
import { injected, openProxyWorld } from '#test/support/worlds/proxy-world.ts';
import { percentile, report, round, withFolder, type Figures } from './measure.ts';

const [seconds = '3', rounds = '5'] = process.argv.slice(2);
const sizes = { '1kb': 1024, '1mb': 1024 ** 2 };
const ways = ['direct', 'nginx', 'svc'] as const;
type Way = (typeof ways)[number];

interface Turn {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const unitMs: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };

/** One turn of wrk. @throws Error when an answer was no success */
async function turn({ url, headers }: Target, connections: number): Promise<Turn> {
  const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', ...sent, url];
  const output = await run('wrk', args);
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(output);
  const latency = (percent: number): number => {
    const [, value = '', unit = ''] =
      new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(us|ms|s)$`, 'm').exec(output) ?? [];
    return Number(value) * (unitMs[unit] ?? Number.NaN);
  };
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]);
  return { perSecond, p50Ms: latency(50), p99Ms: latency(99) };
}

const median = (values: readonly number[]): number => percentile(values, 50);

/** Per round, so that a slow moment of the machine counts for both. */
const medianOf = (
  turns: Readonly<Record<Way, readonly Turn[]>>,
  of: (turn: Readonly<Record<Way, Turn>>) => number,
): number =>
  median(
    turns.svc.map((svc, at) =>
      of({ svc, nginx: turns.nginx[at] ?? svc, direct: turns.direct[at] ?? svc }),
    ),
  );

function figuresOf(name: string, turns: Readonly<Record<Way, readonly Turn[]>>): Figures {
  const figures: Record<string, number> = {};
  for (const way of ways) {
    figures[`${name}.${way}_per_s`] = Math.round(median(turns[way].map((one) => one.perSecond)));
    figures[`${name}.${way}_p50_ms`] = round(median(turns[way].map((one) => one.p50Ms)), 3);
    figures[`${name}.${way}_p99_ms`] = round(median(turns[way].map((one) => one.p99Ms)), 3);
  }
  const share = medianOf(turns, ({ svc, nginx }) => (100 * svc.perSecond) / nginx.perSecond);
  const added = medianOf(turns, ({ svc, direct }) => svc.p50Ms - direct.p50Ms);
  return {
    ...figures,
    [`${name}.pct_of_nginx`]: round(share, 1),
    [`${name}.added_p50_ms`]: round(added, 3),
  };
}

await withFolder(async (folder) => {
  await installPackages('wrk', 'wrk', ['wrk']);
  await using upstream = await startFileServer(sizes);
  await using nginx = await startForwarder(upstream.url, injected);
  await using world = await openProxyWorld(folder, upstream.url, {
    SVC_RATE_LIMIT_PER_MINUTE: '1000000000',
    SVC_LOG_LEVEL: 'error',
    // As `npm start` starts the service.
    NODE_OPTIONS: programs.main.join(' '),
  });
  const target = (way: Way, size: string): Target => {
    if (way === 'direct') return { url: `${upstream.url}/${size}`, headers: {} };
    if (way === 'nginx') return { url: `${nginx.url}/${size}`, headers: {} };
    return { url: `${world.gateway.url}/proxy/${size}`, headers: world.headers };
  };
  const figures: Record<string, number> = {};
  for (const size of Object.keys(sizes)) {
    for (const connections of [1, 32]) {
      const turns: Record<Way, Turn[]> = { direct: [], nginx: [], svc: [] };
      // The first turn of each warms up.
      for (let at = 0; at <= Number(rounds); at += 1) {
        for (const way of ways) {
          const made = await turn(target(way, size), connections);
          if (at > 0) turns[way].push(made);
        }
      }
      Object.assign(figures, figuresOf(`${size}.c${connections}`, turns));
    }
  }
  for (const [name, value] of Object.entries(figures)) {
    console.error(`${name.padEnd(28)} ${String(value).padStart(10)}`);
  }
  report(figures);
});
