import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { GatewayAccess } from '../processes/gateway.ts';
import { childPids } from '../processes/sandbox-processes.ts';
import { eventually, succeeded } from '../worlds/crm-world.ts';

const integration = 'memory';

/** Bodies of actions that take memory until their limit. Functions have no WebAssembly, so that none takes its memory. */
const memoryKinds = {
  closures:
    'let f = () => 0; for (;;) { const g = f, p = new Array(1000).fill(0); f = () => g() + p.length; }',
  arrays: 'const all = []; for (;;) all.push(new Array(1e5).fill(all.length));',
  maps: 'const all = new Map(); for (let n = 0; ; n++) all.set(n, { n });',
  strings:
    'let text = "x"; const all = []; for (;;) all.push((text += text.slice(0, 1e6)) + all.length);',
  'typed arrays': 'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));',
  'WebAssembly memory':
    'if (typeof WebAssembly === "undefined") return "none"; const all = []; for (;;) all.push(new WebAssembly.Memory({ initial: 100 }));',
} as const;

const sleepers = 6;
const syncs = 2;
/** Longer than most rounds, so that a run beside them is of an earlier round. */
const sleepMs = 4_000;
/** What processes may keep of their memory: each grows by less than 32 MB before it is replaced. */
const keptMb = 100;

interface MemoryReport {
  readonly rounds: number;
  /** Ends of the runs of the other environment: `200` and `succeeded` are those that did not fail. */
  readonly beside: Readonly<Record<string, number>>;
  /** Ends of the runs that took memory, by kind. */
  readonly exhausted: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const itemSchema = {
  definitions: {
    Item: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  },
};

const functionOf = (type: 'action' | 'sync', syncName: string, body: string) => ({
  type,
  syncName,
  providerConfigKey: integration,
  models: type === 'sync' ? ['Item'] : [],
  runs: type === 'sync' ? 'every week' : null,
  ...(type === 'sync' ? { auto_start: false, models_json_schema: itemSchema } : {}),
  fileBody: {
    js: `const { z } = require('zod');
exports.default = { type: '${type}', description: '', input: z.any(), output: z.any(), frequency: 'every week', autoStart: false,
  models: ${type === 'sync' ? '{ Item: z.object({ id: z.string() }) }' : '{}'}, exec: async (svc, input) => { ${body} } };`,
    ts: '// of the rounds of memory',
  },
});
const sleep = `await new Promise((resolve) => setTimeout(resolve, ${sleepMs}));`;

/**
 * Runs actions that take all the memory they can in one environment, while six sleeping actions and two syncs of
 * another one run beside them, over and over.
 */
export async function memoryRounds(
  gateway: GatewayAccess,
  { rounds, onRound = () => undefined }: { rounds: number; onRound?: (text: string) => void },
): Promise<MemoryReport> {
  const beside: Record<string, number> = {};
  const exhausted: Record<string, Record<string, number>> = {};
  const count = (tally: Record<string, number>, end: string): void => {
    tally[end] = (tally[end] ?? 0) + 1;
  };
  const attacker = await prepare(
    gateway,
    gateway.key,
    Object.entries(memoryKinds).map(([name, body]) => functionOf('action', nameOf(name), body)),
    1,
  );
  const others = await prepare(
    gateway,
    gateway.prodKey,
    [functionOf('action', 'sleeps', sleep), functionOf('sync', 'sleeps-too', sleep)],
    1 + syncs,
  );
  let isOver = false;
  const [actionsOf = '', ...syncsOf] = others;
  const loops = [
    ...Array.from({ length: sleepers }, async () => {
      while (!isOver)
        count(beside, await endOfAction(gateway, gateway.prodKey, actionsOf, 'sleeps'));
    }),
    ...syncsOf.map(async (id) => {
      while (!isOver) count(beside, await endOfSync(gateway, id));
    }),
  ];
  try {
    for (let round = 1; round <= rounds; round += 1) {
      for (const name of Object.keys(memoryKinds)) {
        const end = await endOfAction(gateway, gateway.key, attacker[0] ?? '', nameOf(name));
        count((exhausted[name] ??= {}), end);
      }
      onRound(`round ${round} of ${rounds}: beside ${JSON.stringify(beside)}`);
    }
  } finally {
    isOver = true;
    await Promise.all(loops);
  }
  return { rounds, beside, exhausted };
}

const nameOf = (kind: string): string => kind.toLowerCase().replaceAll(' ', '-');

/** Deploys the functions to the environment of the key; resolves with new connections. */
async function prepare(
  gateway: GatewayAccess,
  key: string,
  functions: readonly object[],
  connections: number,
): Promise<string[]> {
  const known = await gateway.call('GET', `/integrations/${integration}`, { key });
  if (known.status !== 200) {
    const body = { provider: 'unauthenticated', unique_key: integration };
    succeeded(await gateway.call('POST', '/integrations', { key, body }));
  }
  const ids = Array.from({ length: connections }, () => `memory-${randomUUID()}`);
  for (const id of ids) {
    const body = {
      provider_config_key: integration,
      connection_id: id,
      credentials: { type: 'NONE' },
    };
    succeeded(await gateway.call('POST', '/connections', { key, body }));
  }
  const reconciliationScope = { kind: 'integration', integrationId: integration };
  const body = { reconciliationScope, functions };
  succeeded(await gateway.call('POST', '/functions/deployments/bundle', { key, body }));
  return ids;
}

/** The status, and the code of an error. */
async function endOfAction(
  gateway: GatewayAccess,
  key: string,
  connectionId: string,
  name: string,
): Promise<string> {
  const headers = { 'provider-config-key': integration, 'connection-id': connectionId };
  const body = { action_name: name, input: {} };
  const answer = await gateway.call('POST', '/action/trigger', { key, headers, body });
  const code = (answer.body as { error?: { code?: string } } | null)?.error?.code;
  return code === undefined ? `${answer.status}` : `${answer.status} ${code}`;
}

async function endOfSync(gateway: GatewayAccess, connectionId: string): Promise<string> {
  const key = gateway.prodKey;
  const body = {
    provider_config_key: integration,
    connection_id: connectionId,
    syncs: ['sleeps-too'],
  };
  const newest = async () => {
    const { data } = succeeded(
      await gateway.call('GET', `/runs?connection_id=${connectionId}&limit=1`, { key }),
    ) as {
      data: readonly {
        readonly id: string;
        readonly status: string;
        readonly ended_at: string | null;
        readonly attempt: number;
      }[];
    };
    return data[0];
  };
  const earlier = (await newest())?.id;
  succeeded(await gateway.call('POST', '/sync/trigger', { key, body }));
  const run = await eventually(
    newest,
    (found) => found !== undefined && found.id !== earlier && found.ended_at !== null,
  );
  return run?.attempt === 1 ? run.status : `${run?.status} after ${run?.attempt} attempts`;
}

/** Memory of the sandbox processes of a gateway in MB. */
export const sandboxMb = (pid: number | undefined): number =>
  childPids(pid)
    .map((child) => {
      try {
        return (
          (Number(readFileSync(`/proc/${child}/statm`, 'latin1').split(' ')[1]) * 4096) / 1024 ** 2
        );
      } catch {
        return 0;
      }
    })
    .reduce((sum, one) => sum + one, 0);

/** Resolves when the sandbox processes are back to the memory that they had before, and with what they have then. */
export async function memoryReturned(pid: number | undefined, beforeMb: number): Promise<number> {
  for (;;) {
    const mb = sandboxMb(pid);
    if (mb <= beforeMb + keptMb) return mb;
    await wait(500);
  }
}
