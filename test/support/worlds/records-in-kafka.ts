import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRegistrySchemas } from '#adapters/event-log/registry/open.ts';
import { openReplies } from '#control-plane/replies.ts';
import { systemClock, type Clock } from '#kernel/time.ts';
import { defaultRetention } from '#modules/access/environments/retention.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import { startRecordOwners } from '#modules/records/owner/start.ts';
import { createRecordWriter } from '#modules/records/write/create-writer.ts';
import type { RecordWriter } from '#modules/records/write/writer.ts';
import type { Cleanup, EventLog } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import { partitionsOf, topics } from '#streams/topics.ts';
import { ownPrefix, serviceUrl } from '#test/services/url.ts';
import { silent } from './control.ts';
import { brokersOf, openTestLog } from './kafka-open.ts';
import { memoryVault, sealHere } from './records.ts';

export interface RecordsInKafka extends AsyncDisposable {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly writer: RecordWriter;
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  /** Stands for `svc` in the names of topics. */
  readonly prefix: string;
}

const partitions = 2;

/** Savers and owners of records over the real Kafka and registry of this run, in topics of their own. */
export async function openRecordsInKafka(
  options: {
    readonly clock?: Clock;
    /** Of `svc.records.v1`, where a test is to see it compacted. */
    readonly cleanup?: Cleanup;
    readonly tickMs?: number;
  } = {},
): Promise<RecordsInKafka> {
  const { clock = systemClock, cleanup, tickMs } = options;
  await using stack = new AsyncDisposableStack();
  const [url, registryUrl, prefix] = [serviceUrl('kafka'), serviceUrl('registry'), ownPrefix()];
  const { log } = stack.use(await openTestLog(url, { prefix, clock }));
  const schemas = openRegistrySchemas({ url: registryUrl, prefix });
  await log.ensureTopics(
    Object.entries(topics).map(([name, topic]) => ({
      name,
      partitions: partitionsOf(topic, partitions),
      cleanup: (name === recordsTopic ? cleanup : undefined) ?? topic.cleanup,
    })),
  );
  const directory = await mkdtemp(join(tmpdir(), 'svc-records-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const vault = memoryVault();
  const common = { log, schemas, vault, clock, logger: silent };
  const replies = stack.use(await openReplies({ log, schemas, node: 'saver', logger: silent }));
  const writer = await createRecordWriter({ ...common, replies, payloadMode: () => 'plain' });
  stack.use(
    await startRecordOwners({
      ...common,
      sealing: sealHere(vault),
      directory,
      retentionOf: () => defaultRetention,
      ...(tickMs === undefined ? {} : { tickMs }),
    }),
  );
  const opened = stack.move();
  const brokers = brokersOf(url);
  return {
    log,
    schemas,
    writer,
    brokers,
    registryUrl,
    prefix,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
