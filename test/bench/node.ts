import { randomUUID } from 'node:crypto';
import { loadConfig } from '#app/config/config.ts';
import type { ConnectionId, ConnectionUid, EnvironmentUid, IntegrationKey } from '#kernel/ids.ts';
import { patchEnvironment } from '#modules/access/environments/handlers.ts';
import { environmentByName } from '#modules/access/environments/queries.ts';
import { importConnection } from '#modules/connections/connections/handlers.ts';
import { createIntegration } from '#modules/connections/integrations/handlers.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import type { BarrierAnswer, WriteOrigin } from '#modules/records/write/writer.ts';
import { composeWhole, type WholeNode } from '#test/support/processes/whole-node.ts';

const options = { actor: 'system' };

/** A whole gateway in this process, as `npm start` composes it, with a connection per stream. */
export interface BenchNode extends AsyncDisposable {
  readonly running: WholeNode;
  readonly url: string;
  readonly key: string;
  /** A connection of its own, and the stream of model Contact in it. */
  newStream(): Promise<Stream>;
}

/** `env`: settings beside the usual ones. */
export async function startNode(
  folder: string,
  payloadMode: 'plain' | 'sealed',
  env: Readonly<Record<string, string>> = {},
): Promise<BenchNode> {
  const running = await composeWhole(
    loadConfig({
      SVC_DATA_DIR: folder,
      SVC_PORT: '0',
      SVC_LOG_LEVEL: 'error',
      SVC_RATE_LIMIT_PER_MINUTE: '0',
      ...env,
    }),
  );
  const { services } = running;
  const environment = environmentByName(services.control, 'dev');
  const provider = services.providers.all().find(({ auth_mode }) => auth_mode === 'API_KEY');
  if (environment === null || provider === undefined) throw new Error('no environment or provider');
  const environmentUid = environment.uid as EnvironmentUid;
  await patchEnvironment(services, environmentUid, { payloadMode }, options);
  const integrationKey = 'bench' as IntegrationKey;
  await createIntegration(
    services,
    { environmentUid, uniqueKey: integrationKey, provider },
    options,
  );
  return {
    running,
    url: running.url,
    key: running.generatedKeys.find(({ name }) => name === 'dev')?.secret ?? '',
    async newStream() {
      const connectionId = randomUUID() as ConnectionId;
      const wanted = {
        environmentUid,
        integrationKey,
        connectionId,
        provider,
        credentials: { credentials: { type: 'API_KEY', apiKey: 'bench' }, expiresAt: null },
      };
      const { connection } = await importConnection(services, wanted, options);
      const connectionUid = connection.uid as ConnectionUid;
      return {
        environmentUid,
        connectionUid,
        integration: integrationKey,
        connectionId,
        model: 'Contact',
        variant: 'base',
      };
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

let runs = 0;
export function newOrigin(): WriteOrigin {
  runs += 1;
  return { runId: `bench-${runs}`, attempt: 1, syncName: 'bench', actor: `run:bench-${runs}` };
}

/** Waits until everything of the stream is decided, and says where it ends. */
export function decided(
  { running }: BenchNode,
  stream: Stream,
  origin: WriteOrigin,
): Promise<BarrierAnswer> {
  return running.services.records.writer.barrier(stream, origin);
}

export async function readable(
  { running }: BenchNode,
  { partition, offset }: BarrierAnswer,
): Promise<void> {
  await running.services.records.reader.published(partition, offset, AbortSignal.timeout(600_000));
}
