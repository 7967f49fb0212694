import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino, { type Logger } from 'pino';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import { openEmbeddedLog, type EmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { definitions } from '#app/process/entities.ts';
import { createControlPlane } from '#control-plane/client.ts';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { FoundEntity } from '#control-plane/control-plane.ts';
import type { InProcessOwners } from '#control-plane/in-process-owners.ts';
import { openReplies } from '#control-plane/replies.ts';
import { openControlView } from '#control-plane/view.ts';
import { systemClock, type Clock } from '#kernel/time.ts';
import { openVault, type OpenVault } from '#modules/access/vault/open-vault.ts';
import type { RootKey } from '#modules/access/vault/root-keys.ts';
import {
  connectionEntity,
  type ConnectionEntity,
} from '#modules/connections/connections/entity.ts';
import { type ConnectionQuery, connectionSearch } from '#modules/connections/connections/search.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { EventLog, TopicSpec } from '#ports/event-log.ts';
import { startControlOwners, type ControlOwnersDeps } from '#streams/owner/start.ts';
import { partitionsOf, topics } from '#streams/topics.ts';

export const partitions = 3;

export const silent: Logger = pino({ level: 'silent' });

/** Topics of the control plane, with few partitions. */
const specs: TopicSpec[] = Object.entries(topics).map(([name, topic]) => ({
  name,
  partitions: partitionsOf(topic, partitions),
  cleanup: topic.cleanup,
}));

export const aRootKey = (): RootKey => ({ id: randomUUID(), bytes: randomBytes(32), file: null });

/** A node of the control plane on the embedded log, in a folder of its own. */
export interface ControlNode extends AsyncDisposable {
  readonly control: ControlPlane;
  readonly vault: OpenVault;
  readonly coordination: Coordination;
  readonly logger: Logger;
}

export interface ControlWorld extends AsyncDisposable {
  readonly folder: string;
  readonly log: EventLog;
  readonly embedded: EmbeddedLog;
  /** Another node: own view, own replies, own vault. The same name takes up the same view file. */
  startNode(options?: {
    readonly name?: string;
    readonly rootKeys?: readonly RootKey[];
    /** Those of its process; none when absent. */
    readonly owners?: InProcessOwners;
  }): Promise<ControlNode>;
  startOwners(more?: Partial<ControlOwnersDeps>): Promise<InProcessOwners & AsyncDisposable>;
}

export async function openControlWorld(
  options: { readonly clock?: Clock; readonly folder?: string } = {},
): Promise<ControlWorld> {
  const { clock = systemClock } = options;
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'svc-control-')));
  const embedded = await openEmbeddedLog({ directory: join(folder, 'log') });
  const { log, schemas } = embedded;
  await log.ensureTopics(specs);
  const defaultKeys = [aRootKey()];
  const coordination = openInProcessCoordination();
  const logger = silent;
  let nodes = 0;

  return {
    folder,
    log,
    embedded,
    startOwners: (more = {}) =>
      startControlOwners({
        log,
        schemas,
        clock,
        logger,
        definitions,
        folder: join(folder, 'owners'),
        ...more,
      }),
    async startNode({ rootKeys = defaultKeys, name = `node-${nodes + 1}`, owners } = {}) {
      await using stack = new AsyncDisposableStack();
      nodes += 1;
      const file = join(folder, 'views', `${name}.sqlite`);
      const newCipher = createAesGcm;
      const vault = stack.use(
        await openVault({ log, schemas, rootKeys, newCipher, clock, logger }),
      );
      const view = stack.use(
        await openControlView({ log, schemas, clock, logger, file, definitions }),
      );
      const node = `${name}/${nodes}`;
      const replies = stack.use(await openReplies({ log, schemas, node, logger }));
      const control = await createControlPlane({
        log,
        schemas,
        clock,
        view,
        replies,
        owners: owners ?? null,
      });
      const opened = stack.move();
      const dispose = () => opened.disposeAsync();
      return { control, vault, coordination, logger, [Symbol.asyncDispose]: dispose };
    },
    async [Symbol.asyncDispose]() {
      await embedded[Symbol.asyncDispose]();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Connections with their refs. */
export function connectionsFound(
  { view }: Pick<ControlPlane, 'view'>,
  query: ConnectionQuery,
): FoundEntity<ConnectionEntity>[] {
  return view.search(connectionEntity, connectionSearch(query));
}

export const aProvider = (more: Partial<Provider> = {}): Provider => ({
  name: 'crm',
  display_name: 'CRM',
  categories: [],
  auth_mode: 'API_KEY',
  docs: 'https://example.com',
  ...more,
});

/** Reads all bytes of all topics: keys, values and headers. */
export async function everythingOn(log: EventLog): Promise<string> {
  const parts: string[] = [];
  for (const { name, partitions: count } of specs) {
    for (let partition = 0; partition < count; partition += 1) {
      for await (const batch of log.read({ topic: name, partition, offset: 0 })) {
        for (const { key, value, headers } of batch.messages) {
          parts.push(key, JSON.stringify(headers), Buffer.from(value ?? []).toString('latin1'));
        }
      }
    }
  }
  return parts.join('\n');
}
