import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pino from 'pino';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { openRegistrySchemas, readWithSchemas } from '#adapters/event-log/registry/open.ts';
import { topicSpecs } from '#app/process/topics.ts';
import { startSealing } from '#app/threads/sealing.ts';
import { openReplies } from '#control-plane/replies.ts';
import type { Json } from '#kernel/stable-json.ts';
import { systemClock as clock } from '#kernel/time.ts';
/**
 * How fast a partition's state comes back: `restore.ts [embedded|kafka] [records] [partitions]`. From the log alone, from
 * a snapshot and the tenth of the records that came after it, and taken over from a node that goes away by one that stood
 * by. Record owners and saver in this process; Kafka and a registry are started where they are wanted.
 */
import { defaultRetention } from '#modules/access/environments/retention.ts';
import { openVault } from '#modules/access/vault/open-vault.ts';
import { makeRootKeyFile, readRootKeys } from '#modules/access/vault/root-keys.ts';
import type { RecordOwnersDeps } from '#modules/records/owner/deps.ts';
import { startRecordOwners, type RecordOwners } from '#modules/records/owner/start.ts';
import { createRecordWriter } from '#modules/records/write/create-writer.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import { startKafka } from '#test/services/kafka.ts';
import { startRegistry } from '#test/services/registry.ts';
import { openTestLog } from '#test/support/worlds/kafka-open.ts';
import { anOrigin, aStream } from '#test/support/worlds/records.ts';
import { report, round, withFolder, type Figures } from './measure.ts';
import { contact } from './payloads.ts';

const [kind = 'embedded', count = '200000', partitionCount = '4'] = process.argv.slice(2);
const total = Number(count);
const partitions = Number(partitionCount);
const streamsMax = 16;
const batchSize = 1000;
const logger = pino({ level: 'error' });

const streams = Array.from({ length: streamsMax }, (_, at) =>
  aStream({ connectionUid: `connection-${at}` }),
);

await withFolder(async (folder) => {
  await using stack = new AsyncDisposableStack();
  const open = kind === 'kafka' ? openInKafka : openEmbedded;
  const { log, schemas } = await open(stack, folder);
  await log.ensureTopics(topicSpecs(partitions));
  const rootKeyFile = join(folder, 'root.key');
  makeRootKeyFile(rootKeyFile);
  const rootKeys = readRootKeys(rootKeyFile);
  const vault = stack.use(
    await openVault({ log, schemas, rootKeys, newCipher: createAesGcm, clock, logger }),
  );
  const sealing = stack.use(startSealing(vault));
  for (const { connectionUid } of streams) await vault.create(connectionUid);
  const replies = stack.use(await openReplies({ log, schemas, node: 'bench', logger }));
  const payloadMode = () => 'plain' as const;
  const writer = await createRecordWriter({ log, schemas, replies, vault, clock, payloadMode });
  const start = (name: string, more: Partial<RecordOwnersDeps> = {}) =>
    startRecordOwners({
      log,
      schemas,
      vault,
      sealing,
      clock,
      logger,
      retentionOf: () => defaultRetention,
      directory: join(folder, name),
      tickMs: 50,
      ...more,
    });

  const saveFrom = async (first: number, count: number): Promise<void> => {
    const saves = streams.map(async (stream, at) => {
      const origin = anOrigin({ runId: `run-${first}` });
      for (
        let next = first + at * batchSize;
        next < first + count;
        next += streamsMax * batchSize
      ) {
        const batch: Json[] = Array.from({ length: batchSize }, (_, n) => contact(next + n));
        await writer.save(stream, origin, batch);
      }
      await writer.barrier(stream, origin);
    });
    await Promise.all(saves);
  };

  const copies = { directory: join(folder, 'snapshots') };
  const areCopied = async (): Promise<boolean> => {
    await mkdir(copies.directory, { recursive: true });
    const names = await readdir(copies.directory, { recursive: true });
    return names.filter((name) => name.endsWith('.db')).length === partitions;
  };
  {
    await using _ = await start('first');
    await saveFrom(0, total);
  }
  {
    await using _ = await start('first', { copies });
    while (!(await areCopied())) await wait(20);
    await saveFrom(total, total / 10);
  }
  const all = total + total / 10;
  const timed = async (name: string, more?: Partial<RecordOwnersDeps>): Promise<number> => {
    const started = performance.now();
    await using owners = await start(name, more);
    await deciding(owners);
    return (performance.now() - started) / 1000;
  };
  const fromLog = await timed('second');
  const fromSnapshot = await timed('third', { copies });
  const fromStore = await timed('third');
  const figures: Figures = {
    records: all,
    log_alone_s: round(fromLog),
    log_alone_records_per_s: Math.round(all / fromLog),
    snapshot_and_a_tenth_s: round(fromSnapshot),
    own_store_s: round(fromStore),
    standby_s: round(await takenOver(start)),
  };
  report(figures);
});

interface OpenedLog {
  readonly log: EventLog;
  readonly schemas: Schemas;
}

async function openEmbedded(stack: AsyncDisposableStack, folder: string): Promise<OpenedLog> {
  return stack.use(await openEmbeddedLog({ directory: join(folder, 'log') }));
}

async function openInKafka(stack: AsyncDisposableStack): Promise<OpenedLog> {
  const kafka = stack.use(await startKafka());
  const { url } = stack.use(await startRegistry());
  const prefix = 'bench';
  const { log } = stack.use(await openTestLog(kafka.url, { prefix }));
  const schemas = openRegistrySchemas({ url, prefix });
  return { log: readWithSchemas(log, schemas), schemas };
}

async function deciding(owners: RecordOwners): Promise<void> {
  const isThere = (): boolean => {
    const states = [...owners.partitions().values()];
    return states.length === partitions && states.every((state) => state === 'deciding');
  };
  while (!isThere()) await wait(1);
}

/** From the moment at which a node begins to go until the other one decides everything. */
async function takenOver(
  start: (name: string, more?: Partial<RecordOwnersDeps>) => Promise<RecordOwners>,
): Promise<number> {
  const leaving = await start('first');
  await using standby = await start('standby', { standby: {} });
  const share = Math.ceil(partitions / 2);
  while (standby.standbys().size < share) await wait(20);
  const started = performance.now();
  await leaving[Symbol.asyncDispose]();
  await deciding(standby);
  return (performance.now() - started) / 1000;
}
