import { mkdir, open, readdir, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogPorts } from '#control-plane/ports.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import type { EventLog, ReadMessage, TopicSpec } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import { consumerGroups } from '#streams/consumer-groups.ts';
import { encodeBlock, magic, type Entry } from './frames.ts';
import { writeManifest, type Manifest, type PartitionFile, type TopicFiles } from './manifest.ts';
import type { Source, SourceTopic } from './source.ts';

/** Topics that are not exported: replies to nodes, and progress of topics that are not exported. */
export const leftBehind: ReadonlySet<string> = new Set([
  'svc.internal.replies.v1',
  'svc.internal.typed-topics.v1',
]);
export const blockBytes = 1024 ** 2;

export interface Transfer extends LogPorts {
  readonly clock: Clock;
  readonly version: string;
  readonly folder: string;
  /** Every topic of the service. */
  readonly topics: readonly TopicSpec[];
  /** Called after each partition. */
  readonly progress: (done: { readonly topic: string; readonly messages: number }) => void;
}

/**
 * Exports the log into the folder, which must be empty or missing. The log must not grow during the export: heads and
 * changes of different times would be inconsistent.
 * @throws GatewayError `conflict` when the folder is not empty, or the log grew
 */
export async function exportLog(transfer: Transfer): Promise<Manifest> {
  const { folder, clock, version } = transfer;
  await mkdir(join(folder, 'schemas'), { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 1 || (await readdir(join(folder, 'schemas'))).length > 0) {
    throw new GatewayError('conflict', { message: `The folder ${folder} is not empty.` });
  }
  const source = await openSource(transfer);
  const topics: TopicFiles[] = [];
  for (const topic of source.topics) topics.push(await exportTopic(transfer, source, topic));
  await source.mustHaveStood();
  const made_at = new Date(clock.now()).toISOString();
  const manifest: Manifest = { format: 1, version, made_at, topics, groups: source.groups };
  await writeManifest(folder, manifest);
  return manifest;
}

/** A log that must not grow while it is copied. */
export interface LogSource extends Source {
  /** By topic and partition, the first offset, and the one after the last. */
  readonly ranges: ReadonlyMap<string, { readonly start: number; readonly end: number }>;
  /** @throws GatewayError `conflict` when it grew since it was opened */
  mustHaveStood(): Promise<void>;
}

export async function openSource(
  source: Pick<Transfer, 'log' | 'schemas' | 'topics' | 'version'>,
): Promise<LogSource> {
  const { log, schemas, version } = source;
  const specs = source.topics.filter(({ name }) => !leftBehind.has(name));
  const ranges = await rangesOf(log, specs);
  const codecs = new Map<string, Codec<unknown>>();
  for (const { name } of specs) codecs.set(name, await schemas.codec<unknown>(name));
  return {
    version,
    restoredAt: null,
    ranges,
    groups: await groupsOf(log),
    topics: specs.map(({ name, partitions }) => {
      const { schema = '', schemaId: id = 0 } = codecs.get(name) ?? {};
      return { name, partitions, schemas: [{ definition: schema, id }] };
    }),
    async *blocks(topic, partition) {
      const { start: offset = 0, end = 0 } = ranges.get(`${topic}/${partition}`) ?? {};
      const codec = codecs.get(topic);
      let pending: Entry[] = [];
      let size = 0;
      for await (const batch of log.read({ topic, partition, offset })) {
        for (const message of batch.messages) {
          if (message.offset >= end || codec === undefined) continue;
          pending.push(entryOf(message, codec));
          size += message.key.length + (message.value?.length ?? 0);
          if (size < blockBytes) continue;
          yield pending;
          pending = [];
          size = 0;
        }
      }
      if (pending.length > 0) yield pending;
    },
    async mustHaveStood() {
      for (const [place, { end }] of await rangesOf(log, specs)) {
        if (ranges.get(place)?.end === end) continue;
        const message = `${place} grew meanwhile: stop every process of the service and start again.`;
        throw new GatewayError('conflict', { message });
      }
    },
  };
}

async function rangesOf(log: EventLog, specs: readonly TopicSpec[]) {
  const ranges = new Map<string, { readonly start: number; readonly end: number }>();
  for (const { name } of specs) {
    const starts = await log.startOffsets(name);
    for (const [partition, end] of (await log.endOffsets(name)).entries()) {
      ranges.set(`${name}/${partition}`, { start: starts[partition] ?? 0, end });
    }
  }
  return ranges;
}

export async function groupsOf(log: Pick<EventLog, 'committed'>): Promise<Manifest['groups']> {
  const groups = Object.entries(consumerGroups).map(async ([group, { topic }]) => {
    const positions = Object.fromEntries(await log.committed(group, topic));
    return { group, topic, positions };
  });
  return Promise.all(groups);
}

async function exportTopic(
  { folder, topics, progress }: Transfer,
  source: LogSource,
  { name, partitions, schemas: [schema = { definition: '', id: 0 }] }: SourceTopic,
): Promise<TopicFiles> {
  const file = `schemas/${name}.avsc`;
  await writeFile(join(folder, file), schema.definition, { flag: 'wx' });
  await mkdir(join(folder, name), { mode: 0o700 });
  const files: PartitionFile[] = [];
  for (let partition = 0; partition < partitions; partition += 1) {
    const written = await exportPartition(folder, source, name, partition);
    files.push(written);
    progress({ topic: `${name}/${partition}`, messages: written.messages });
  }
  const { cleanup = { policy: 'none' } } = topics.find((spec) => spec.name === name) ?? {};
  return { name, partitions, cleanup, schema: { file, id: schema.id }, files };
}

async function exportPartition(
  folder: string,
  source: LogSource,
  topic: string,
  partition: number,
): Promise<PartitionFile> {
  const file = `${topic}/${partition}.log`;
  const { start = 0, end = 0 } = source.ranges.get(`${topic}/${partition}`) ?? {};
  await using handle = await open(join(folder, file), 'wx', 0o600);
  await handle.write(magic);
  let bytes = magic.length;
  let messages = 0;
  for await (const entries of source.blocks(topic, partition)) {
    bytes += await writeBlock(handle, entries);
    messages += entries.length;
  }
  await handle.sync();
  return { partition, file, start, end, messages, bytes };
}

async function writeBlock(handle: FileHandle, entries: readonly Entry[]): Promise<number> {
  const block = encodeBlock(entries);
  await handle.write(block);
  return block.length;
}

/** With its value in the current schema: the import frames all values of a topic with one schema id. */
function entryOf(
  { offset, timestamp, key, headers, value }: ReadMessage,
  codec: Codec<unknown>,
): Entry {
  return { offset, timestamp, key, headers, value: value === null ? null : current(value, codec) };
}

function current(value: Uint8Array, codec: Codec<unknown>): Uint8Array {
  const id = framedId(value);
  // A value without a frame was never readable: its consumers have parked it.
  return id === null || id === codec.schemaId ? value : codec.encode(codec.decode(value));
}

/** The schema id that frames the value; null when it has no frame. */
export function framedId(value: Uint8Array): number | null {
  if (value.length < 5 || value[0] !== 0) return null;
  return Buffer.from(value.buffer, value.byteOffset, 5).readUInt32BE(1);
}
