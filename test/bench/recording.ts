/**
 * What recording the calls of a run costs: `recording.ts [records] [rows of a page] [pairs]`. Each pair runs the sync once with
 * and once without a recording, on new connections, in alternating order; the cost is the median of the quotients of their
 * processor times, of the gateway and its children. The provider is a process of its own, whose time does not count.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { treeCpuMs } from '#test/support/processes/processor-time.ts';
import { percentile, report, round, withFolder, type Figures } from './measure.ts';
import { startNode } from './node.ts';
import {
  called,
  connect,
  deploy,
  integration,
  providerEnv,
  servePages,
  statusOf,
  syncOf,
  triggerSync,
  type Api,
} from './paged-provider.ts';

const isProvider = process.send !== undefined;
const [count = '2000', size = '100', turns = '15'] = process.argv.slice(2);
const total = Number(count);
const limit = Number(size);

async function serve(): Promise<void> {
  process.send?.(await servePages(total, [limit]));
  await once(process, 'disconnect');
  process.exit();
}

const setRecording = (api: Api, isRecorded: boolean): Promise<string> =>
  recordCalls(api, `/integrations/${integration}/functions/${syncOf(limit)}/recording?type=sync`, {
    record_calls: isRecorded,
  });

async function recordCalls({ url, key }: Api, path: string, body: object): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const reply = await fetch(`${url}${path}`, {
    method: 'PUT',
    headers,
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`PUT ${path}: ${reply.status}`);
  return reply.text();
}

/** Until its records can be read. */
async function ran(api: Api, id: string): Promise<void> {
  await triggerSync(api, id, limit);
  for (;;) {
    const status = await statusOf(api, id, limit);
    if (status?.latestExecutionStatus === 'SUCCESS' && status.records_readable) return;
    await wait(20);
  }
}

interface Shown {
  readonly data: readonly { readonly id: string }[];
}

/** Bytes that are kept of the newest run of the connection. */
async function keptBytes({ url, key }: Api, id: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const listed = await fetch(`${url}/runs?connection_id=${id}&limit=1`, { headers });
  const { data } = (await listed.json()) as Shown;
  const text = await called({ url, key }, 'POST', `/runs/${data[0]?.id ?? ''}/replays`, {});
  return (JSON.parse(text) as { recorded_bytes: number }).recorded_bytes;
}

async function measure(folder: string): Promise<Figures> {
  const provider = fork(fileURLToPath(import.meta.url), [count, size, turns]);
  const [port] = (await once(provider, 'message')) as [number];
  try {
    await using node = await startNode(folder, 'sealed', await providerEnv(folder, port));
    await deploy(node, [limit]);
    const cpuMs = (): number => treeCpuMs(process.pid) - treeCpuMs(provider.pid ?? 0);
    const cost = async (isRecorded: boolean, id: string): Promise<number> => {
      await setRecording(node, isRecorded);
      await connect(node, id);
      const before = cpuMs();
      await ran(node, id);
      // What follows a run in the background is part of its price.
      await wait(500);
      return cpuMs() - before;
    };
    const plain: number[] = [];
    const recorded: number[] = [];
    const quotients: number[] = [];
    let bytes = 0;
    for (let turn = 0; turn <= Number(turns); turn += 1) {
      const isFirst = turn % 2 === 0;
      const first = await cost(isFirst, `a-${turn}`);
      const second = await cost(!isFirst, `b-${turn}`);
      const [withIt, without] = isFirst ? [first, second] : [second, first];
      bytes = await keptBytes(node, isFirst ? `a-${turn}` : `b-${turn}`);
      // Code that has not run yet costs more.
      if (turn === 0) continue;
      recorded.push(withIt);
      plain.push(without);
      quotients.push(withIt / without);
    }
    return {
      plain_ms: round(percentile(plain, 50), 1),
      recorded_ms: round(percentile(recorded, 50), 1),
      cost_percent: round((percentile(quotients, 50) - 1) * 100, 1),
      kept_bytes: bytes,
    };
  } finally {
    provider.disconnect();
  }
}

if (isProvider) await serve();
else await withFolder(async (folder) => report(await measure(folder)));
