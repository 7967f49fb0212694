/**
 * `node test/bench/functions.ts [--kafka] [--runs=300]`: what a run of a function costs, in the sandbox alone and from
 * an HTTP request to its answer; `--kafka` measures the second alone, on Kafka, a registry and Redis, which it starts.
 * `realm_start` is from a realm of the pool to the first instruction of its function; `pooled_start` and `cold_start`
 * are as the service sees them, up to the first call that reaches it: the way between the processes is in them twice.
 * `action_…` is what a caller waits for once the gateway has answered `warmUps` of them; those, the first of a gateway
 * that has just been started, are `action_…_first`: their code is being compiled as they go. On a machine that does
 * other things, too, `runs_per_processor_s` is the rate to look at: what the process of the realms used, whichever
 * other processes ran.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openSandbox, type SandboxOptions } from '#adapters/sandbox/sandbox.ts';
import type { Sandbox } from '#ports/sandbox.ts';
import { startOwnServices } from '#test/support/processes/own-services.ts';
import { openCrmWorld } from '#test/support/worlds/crm-world.ts';
import { runGuest } from '#test/unit/src/adapters/sandbox/guest.ts';
import { p50p99, report, round, seconds, type Figures } from './measure.ts';

const { values: options } = parseArgs({
  options: { kafka: { type: 'boolean', default: false }, runs: { type: 'string', default: '300' } },
});
const runs = Number(options.runs);
const callsOfOne = 100;
/** Between two starts: a realm in its place takes 3 ms. */
const pauseMs = 20;
/** Calls before those that count as what a service that is up takes. */
const warmUps = 200;
/** Realms that live at the same time. */
const living = 64;

async function inSandbox<T>(
  given: SandboxOptions,
  work: (sandbox: Sandbox) => Promise<T>,
): Promise<T> {
  await using sandbox = await openSandbox(given);
  return await work(sandbox);
}

/** Milliseconds to the first host call, and from there to the end of `callsOfOne` of them. */
async function startOf(sandbox: Sandbox): Promise<{ toFirst: number; toLast: number }> {
  const body = `for (let at = 0; at < ${callsOfOne}; at++) await svc.getCheckpoint();`;
  const started = performance.now();
  let first = 0;
  const getCheckpoint = (): Promise<string> => {
    if (first === 0) first = performance.now();
    return Promise.resolve('null');
  };
  const result = await runGuest(sandbox, body, { host: { getCheckpoint } });
  if (result.status === 'error') throw new Error(result.error.message);
  return { toFirst: first - started, toLast: performance.now() - first };
}

async function starts(name: string, spares: number): Promise<Figures> {
  return inSandbox({ spares }, async (sandbox) => {
    const samples: { toFirst: number; toLast: number }[] = [];
    for (let run = 0; run < runs; run += 1) {
      await sleep(pauseMs);
      samples.push(await startOf(sandbox));
    }
    return {
      ...p50p99(
        `${name}_start`,
        samples.map(({ toFirst }) => toFirst),
      ),
      ...p50p99(
        `${name}_${callsOfOne}_calls`,
        samples.map(({ toLast }) => toLast),
      ),
    };
  });
}

/** Runs that call nothing, in one process, as many at a time as it takes. */
function rate(): Promise<Figures> {
  return inSandbox({ childrenMax: 1 }, async (sandbox) => {
    const count = 3 * runs;
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next++ < count) await runGuest(sandbox, 'return input;', { input: 1 });
    };
    const before = childrenProcessorS();
    const spent = await seconds(() => Promise.all(Array.from({ length: 4 }, lane)));
    return {
      runs_per_s_and_core: Math.round(count / spent),
      runs_per_processor_s: Math.round(count / (childrenProcessorS() - before)),
    };
  });
}

/** What a realm at rest adds to the resident memory of its process. */
function memory(): Promise<Figures> {
  const given = { childrenMax: 1, runsPerChild: living, spares: 1 };
  return inSandbox(given, async (sandbox) => {
    const before = childrenMb();
    const release = Promise.withResolvers<string>();
    let waiting = 0;
    const host = {
      getCheckpoint: () => {
        waiting += 1;
        return release.promise;
      },
    };
    const all = Array.from({ length: living }, () =>
      runGuest(sandbox, 'await svc.getCheckpoint();', { host }),
    );
    while (waiting < living) await sleep(pauseMs);
    const after = childrenMb();
    release.resolve('null');
    await Promise.all(all);
    return { mb_per_realm: round((after - before) / living) };
  });
}

/** What Linux says of the processes that this one has started, in the fields of the file. */
function ofChildren(file: 'stat' | 'statm'): string[][] {
  const folder = `/proc/${process.pid}/task`;
  const children = readdirSync(folder).flatMap((thread) =>
    readFileSync(`${folder}/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return children.map((pid) => readFileSync(`/proc/${pid}/${file}`, 'latin1').split(' '));
}

/** Resident memory. */
const childrenMb = (): number =>
  ofChildren('statm').reduce((sum, [, pages]) => sum + (Number(pages) * 4096) / 1024 ** 2, 0);

/** Processor time in seconds, user and system; Linux counts in hundredths. */
const childrenProcessorS = (): number =>
  ofChildren('stat').reduce(
    (sum, fields) => sum + (Number(fields[13]) + Number(fields[14])) / 100,
    0,
  );

/** In the process of the isolates (`isolate-start.ts`). */
async function realmStarts(): Promise<Figures> {
  const execArgv = ['--no-node-snapshot', '--disallow-code-generation-from-strings'];
  const child = fork(new URL('isolate-start.ts', import.meta.url), [String(runs)], { execArgv });
  const [figures] = (await once(child, 'message')) as [Figures];
  return figures;
}

/** An action that calls nothing, from the request to the answer. */
async function actions(): Promise<Figures> {
  await using services = options.kafka ? await startOwnServices() : null;
  await using world = await openCrmWorld();
  const { headers } = await world.connect();
  const body = JSON.stringify({ action_name: 'echo', input: { text: 'x' } });
  const authorization = `Bearer ${world.gateway.key}`;
  const samples: number[] = [];
  for (let run = 0; run < warmUps + runs; run += 1) {
    const started = performance.now();
    const answer = await fetch(`${world.gateway.url}/action/trigger`, {
      method: 'POST',
      headers: { ...headers, authorization, 'content-type': 'application/json' },
      body,
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${text}`);
    samples.push(performance.now() - started);
    await sleep(pauseMs);
  }
  const name = services === null ? 'action_embedded' : 'action_kafka';
  return {
    ...p50p99(`${name}_first`, samples.slice(0, warmUps)),
    ...p50p99(name, samples.slice(warmUps)),
  };
}

/** The same with either log. */
const sandboxAlone = async (): Promise<Figures> => ({
  ...(await realmStarts()),
  ...(await starts('pooled', 2)),
  ...(await starts('cold', 0)),
  ...(await rate()),
  ...(await memory()),
});

report({ ...(options.kafka ? {} : await sandboxAlone()), ...(await actions()) });
