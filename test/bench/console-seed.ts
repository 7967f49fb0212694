import { setTimeout as wait } from 'node:timers/promises';
import { loadConfig } from '#app/config/config.ts';
import type { PublicMessage } from '#control-plane/entity.ts';
import { joinKey } from '#kernel/ids.ts';
import { environmentByName } from '#modules/access/environments/queries.ts';
import { importConnection } from '#modules/connections/connections/handlers.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { createIntegration } from '#modules/connections/integrations/handlers.ts';
import { quietStep, type RunAction, type RunStep } from '#modules/functions/runs/ledger/events.ts';
import { startGateway } from '#test/support/processes/gateway.ts';
import { composeWhole, type WholeNode } from '#test/support/processes/whole-node.ts';
import { seconds } from './measure.ts';

const options = { actor: 'system' };
const integrationKey = 'bench';
const together = 64;
const runsPerAppend = 2_000;
const hourMicros = 3_600_000_000;

/** Connection id of the last row of each list: it is created first, and has the first run. */
export const oldest = 'oldest';

interface Sizes {
  readonly connections: number;
  readonly runs: number;
}

/**
 * Fills a new data folder: a gateway makes its keys at its first start, and what is seeded comes after it.
 * @returns seconds
 */
export async function seedNew(folder: string, sizes: Sizes): Promise<number> {
  await using first = await startGateway({ dataDir: folder });
  await first.stop();
  return await seconds(() => seed(folder, sizes));
}

/** Fills the data folder of a gateway that was started once and is stopped. Resolves when all can be read. */
async function seed(folder: string, sizes: Sizes): Promise<void> {
  const config = loadConfig({ SVC_DATA_DIR: folder, SVC_PORT: '0', SVC_LOG_LEVEL: 'error' });
  await using node = await composeWhole(config);
  const { environmentUid, provider } = ofNode(node);
  const integration = { environmentUid, uniqueKey: integrationKey, provider };
  await createIntegration(node.services, integration, options);
  const connections = [
    ...(await connect(node, 0, 1)),
    ...(await connect(node, 1, sizes.connections)),
  ];
  await run(node, connections, 0, sizes.runs);
}

function ofNode({ services }: WholeNode) {
  const environmentUid = environmentByName(services.control, 'dev')?.uid;
  const provider = services.providers.all().find(({ auth_mode }) => auth_mode === 'API_KEY');
  if (environmentUid === undefined || provider === undefined) throw new Error('nothing to seed');
  return { environmentUid, provider };
}

/** Creates the connections with the numbers from `from` up to `to`, in the integration `bench`. */
export async function connect(node: WholeNode, from: number, to: number): Promise<Connection[]> {
  const { services } = node;
  const { environmentUid, provider } = ofNode(node);
  const credentials = { credentials: { type: 'API_KEY', apiKey: 'bench' }, expiresAt: null };
  const add = async (at: number): Promise<Connection> => {
    const wanted = {
      environmentUid,
      integrationKey,
      connectionId: at === 0 ? oldest : `customer-${at}`,
      provider,
      credentials,
      endUser: {
        id: `user-${at}`,
        email: `user-${at}@example.com`,
        displayName: null,
        tags: {},
        organization: null,
      },
    };
    return (await importConnection(services, wanted, options)).connection;
  };
  const made: Connection[] = [];
  while (made.length < to - from) {
    const next = from + made.length;
    const length = Math.min(together, to - next);
    made.push(...(await Promise.all(Array.from({ length }, (_, n) => add(next + n)))));
  }
  return made;
}

/** Actions that ended, over the last 20 hours: a list without a period shows a day. */
export async function run(
  { services, tables }: WholeNode,
  connections: readonly Connection[],
  from: number,
  to: number,
): Promise<void> {
  const { publisher, clock } = services;
  const first = clock.nowMicros() - 20 * hourMicros;
  const apart = Math.floor((20 * hourMicros) / to);
  for (let next = from; next < to; next += runsPerAppend) {
    const length = Math.min(runsPerAppend, to - next);
    const steps = Array.from({ length }, (_, n) => {
      const at = next + n;
      // The oldest has one run, the first.
      const connection = connections[at === 0 ? 0 : 1 + (at % (connections.length - 1))];
      return connection === undefined ? [] : stepsOf(connection, at, first + at * apart);
    });
    await publisher.publish(steps.flat(), 'system');
  }
  for (;;) {
    const [found] = await tables.queryRows<{ count: string }>(
      `SELECT uniqExact(run_id) AS count FROM runs WHERE action = 'succeeded'`,
    );
    if (Number(found?.count) >= to) return;
    await wait(200);
  }
}

/** Queued by a process that runs it itself, so that no runner takes it, and ended. */
function stepsOf(connection: Connection, at: number, queuedAt: number): PublicMessage[] {
  const { environmentUid, uid, integrationKey: integration, connectionId } = connection;
  const runId = `01900000-0000-7000-8000-${String(at).padStart(12, '0')}`;
  const message = (
    action: RunAction,
    more: Partial<RunStep> & { readonly at: number },
  ): PublicMessage => {
    const { at: occurredAt, ...fields } = more;
    const value: RunStep = {
      ...quietStep,
      kind: 'action',
      function: `function-${at % 20}`,
      function_version: '1',
      action,
      attempt: 1,
      connection_uid: uid,
      trigger: 'api',
      started_at: queuedAt,
      log_id: runId,
      ...fields,
    };
    return {
      topic: 'svc.runs.v1',
      key: joinKey(environmentUid, integration, connectionId, runId),
      partitionBy: joinKey(environmentUid, integration, connectionId),
      type: `svc.run.${action}`,
      environmentUid,
      integration,
      connectionId,
      runId,
      at: occurredAt,
      value,
    };
  };
  return [
    message('queued', { at: queuedAt }),
    message('succeeded', { at: queuedAt + 250_000, duration_ms: 250 }),
  ];
}
