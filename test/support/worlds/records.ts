import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import { openSchemas } from '#adapters/event-log/avro-codec.ts';
import { openReplies } from '#control-plane/replies.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { ConnectionId, ConnectionUid, EnvironmentUid, IntegrationKey } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import { systemClock, type Clock } from '#kernel/time.ts';
import { defaultRetention } from '#modules/access/environments/retention.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import { recordCommandsTopic } from '#modules/records/model/commands.ts';
import { type RecordChange, recordsTopic } from '#modules/records/model/events.ts';
import {
  sealEach,
  type PayloadSealing,
  PayloadSealer,
} from '#modules/records/model/sealed-payload.ts';
import { streamKey, type Stream } from '#modules/records/model/stream.ts';
import type { RecordOwnersDeps } from '#modules/records/owner/deps.ts';
import { startRecordOwners, type RecordOwners } from '#modules/records/owner/start.ts';
import { createRecordWriter } from '#modules/records/write/create-writer.ts';
import type { RecordWriter, WriteOrigin } from '#modules/records/write/writer.ts';
import type { Cipher } from '#ports/cipher.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import { partitionsOf, topics } from '#streams/topics.ts';
import { SimulatedLog, type Client } from '../fakes/simulated-log.ts';

export const aStream = (more: Partial<Record<keyof Stream, string>> = {}): Stream =>
  ({
    environmentUid: 'environment-1' as EnvironmentUid,
    connectionUid: 'connection-1' as ConnectionUid,
    model: 'Contact',
    variant: 'base',
    integration: 'crm' as IntegrationKey,
    connectionId: 'customer-1' as ConnectionId,
    ...more,
  }) as Stream;

export const anOrigin = (more: Partial<WriteOrigin> = {}): WriteOrigin => ({
  runId: 'run-1',
  attempt: 1,
  syncName: 'contacts',
  actor: 'run:run-1',
  ...more,
});

export const contacts = (count: number, from = 0): { id: string; v: number }[] =>
  Array.from({ length: count }, (_, i) => ({ id: `c${from + i}`, v: 1 }));

/** Ids of schemas without a registry to ask. */
export function localSchemas(): Schemas {
  const definitions: string[] = [];
  return openSchemas({
    register: (_subject, definition) => Promise.resolve(definitions.push(definition)),
    definition: (id) => definitions[id - 1] ?? null,
  });
}

type RecordsVault = Pick<Vault, 'ready' | 'sealBytes' | 'openBytes' | 'fingerprint' | 'shred'>;

/** Keys in memory, made when first asked for. */
export function memoryVault(): RecordsVault {
  const secret = randomBytes(32);
  const ciphers = new Map<string, Cipher | null>();
  const cipherOf = (keyId: string): Cipher => {
    let cipher = ciphers.get(keyId);
    if (cipher === undefined) ciphers.set(keyId, (cipher = createAesGcm(randomBytes(32))));
    if (cipher === null) throw new GatewayError('invalid_credentials');
    return cipher;
  };
  return {
    async ready(keyId) {
      if (ciphers.get(keyId) === null) throw new GatewayError('not_found');
      cipherOf(keyId);
    },
    sealBytes: (keyId, plain, context) => cipherOf(keyId).seal(plain, context),
    openBytes: (keyId, sealed, context) => cipherOf(keyId).open(sealed, context),
    fingerprint: (purpose, text) =>
      createHmac('sha256', secret).update(`${purpose}\0${text}`).digest('hex'),
    async shred(keyId) {
      ciphers.set(keyId, null);
      return 0;
    },
  };
}

/** Seals in the caller's thread, and answers later, as another thread does. */
export function sealHere(vault: RecordsVault): PayloadSealing {
  const sealer = new PayloadSealer(vault);
  return {
    begin(owner) {
      vault.sealBytes(owner.connectionUid, new Uint8Array(), 'is there a key?');
      return async (payloads) => {
        await new Promise((resolve) => setImmediate(resolve));
        return sealEach(sealer, owner, payloads);
      };
    },
  };
}

export interface RecordsWorld extends AsyncDisposable {
  readonly log: SimulatedLog;
  readonly schemas: Schemas;
  readonly vault: RecordsVault;
  readonly writer: RecordWriter;
  readonly folder: string;
  payloadMode: 'plain' | 'sealed';
  /** Another process with owners; the one before loses its partitions. */
  startOwners(options?: OwnerOptions): Promise<RunningOwners>;
  changes(): Promise<RecordChange[]>;
  /** The commands that the log has on the stream's partition. */
  keptCommands(stream: Stream): ReturnType<SimulatedLog['partition']>;
}

export interface OwnerOptions {
  readonly folder?: string;
  readonly faultPoint?: (name: string) => void;
  readonly client?: Client;
  readonly copies?: NonNullable<RecordOwnersDeps['copies']>;
  readonly standby?: NonNullable<RecordOwnersDeps['standby']>;
  readonly tickMs?: number;
  readonly onLogIncomplete?: NonNullable<RecordOwnersDeps['onLogIncomplete']>;
  readonly retentionOf?: RecordOwnersDeps['retentionOf'];
  readonly logger?: RecordOwnersDeps['logger'];
  readonly sealing?: PayloadSealing;
}
export interface RunningOwners extends AsyncDisposable {
  readonly client: Client;
  readonly owners: RecordOwners;
  /** Resolves when every partition is restored and its commands are being decided. */
  untilDeciding(): Promise<void>;
}

/** Saver, owners and log in one process, with the log in memory. */
export async function openRecordsWorld(
  options: { readonly clock?: Clock; readonly partitions?: number } = {},
): Promise<RecordsWorld> {
  const { clock = systemClock, partitions = 2 } = options;
  const log = new SimulatedLog(clock);
  log.addTopics(
    Object.entries(topics).map(([name, topic]) => ({
      name,
      partitions: partitionsOf(topic, partitions),
      cleanup: topic.cleanup,
    })),
  );
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-records-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const logger = pino({ level: process.env['SVC_TEST_LOG'] ?? 'silent' });
  const schemas = localSchemas();
  const vault = memoryVault();
  const saver: EventLog = log.client();
  const replies = stack.use(await openReplies({ log: saver, schemas, node: 'saver', logger }));
  const world: Omit<RecordsWorld, typeof Symbol.asyncDispose> = {
    log,
    schemas,
    vault,
    folder,
    payloadMode: 'plain',
    writer: await createRecordWriter({
      log: saver,
      schemas,
      replies,
      vault,
      clock,
      payloadMode: () => world.payloadMode,
    }),
    async startOwners(more: OwnerOptions = {}) {
      const client = more.client ?? log.client();
      const directory = more.folder ?? folder;
      const ports = { log: client, schemas, vault, clock, logger, directory, retryMs: 1 };
      const retentionOf = () => defaultRetention;
      const sealing = sealHere(vault);
      const owners = await startRecordOwners({ ...ports, sealing, retentionOf, ...more });
      const isDeciding = (): boolean => {
        const states = [...owners.partitions().values()];
        return states.length === partitions && states.every((state) => state === 'deciding');
      };
      return {
        client,
        owners,
        async untilDeciding() {
          while (!isDeciding()) await new Promise((resolve) => setImmediate(resolve));
        },
        [Symbol.asyncDispose]: () => owners[Symbol.asyncDispose](),
      };
    },
    async changes() {
      const codec = await schemas.codec<RecordChange>(recordsTopic);
      const all = log.partitionsOf(recordsTopic).flatMap(({ messages }) => messages);
      return all.flatMap(({ value }) => (value === null ? [] : [codec.decode(value)]));
    },
    keptCommands: (stream) =>
      log.partition(recordCommandsTopic, partitionOf(streamKey(stream), partitions)),
  };
  const opened = stack.move();
  return Object.assign(world, { [Symbol.asyncDispose]: () => opened.disposeAsync() });
}
