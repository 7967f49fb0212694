import type { Ports } from '../../../control-plane/ports.ts';
import { mkdir, open, readdir, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { consumerGroups } from '../../../../streams/consumer-groups.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import type { EventLog, ReadMessage, TopicSpec } from '../../../ports/event-log.ts';
import type { Codec } from '../../../ports/schemas.ts';
import { encodeBlock, magic, type Entry } from './frames.ts';
import { writeManifest, type Manifest, type PartitionFile, type TopicFiles } from './manifest.ts';

/** Topics that are not exported: replies to nodes, and progress of topics that are not exported. */
const leftBehind = new Set(['svc.internal.replies.v1', 'svc.internal.typed-topics.v1']);
const blockBytes = 1024 ** 2;

export interface Transfer extends Pick<Ports, 'log' | 'schemas' | 'clock'> {
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
  const { log, folder, clock, version } = transfer;
  await mkdir(join(folder, 'schemas'), { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 1 || (await readdir(join(folder, 'schemas'))).length > 0) {
    throw new GatewayError('conflict', { message: `The folder ${folder} is not empty.` });
  }
  const specs = transfer.topics.filter(({ name }) => !leftBehind.has(name));
  const ends = await endsOf(log, specs);
  const topics: TopicFiles[] = [];
  for (const spec of specs) topics.push(await exportTopic(transfer, spec, ends));
  const groups = await groupsOf(log);
  for (const [position, end] of await endsOf(log, specs)) {
    if (ends.get(position) === end) continue;
    const message = `${position} grew during the export: stop every process of the service and export again.`;
    throw new GatewayError('conflict', { message });
  }
  const made_at = new Date(clock.now()).toISOString();
  const manifest: Manifest = { format: 1, version, made_at, topics, groups };
  await writeManifest(folder, manifest);
  return manifest;
}

type Ends = ReadonlyMap<string, number>;

async function endsOf(log: EventLog, specs: readonly TopicSpec[]): Promise<Ends> {
  const ends = new Map<string, number>();
  for (const { name } of specs) {
    for (const [partition, end] of (await log.endOffsets(name)).entries()) {
      ends.set(`${name}/${partition}`, end);
    }
  }
  return ends;
}

async function groupsOf(log: EventLog): Promise<Manifest['groups']> {
  const groups = Object.entries(consumerGroups).map(async ([group, { topic }]) => {
    const positions = Object.fromEntries(await log.committed(group, topic));
    return { group, topic, positions };
  });
  return Promise.all(groups);
}

async function exportTopic(
  transfer: Transfer,
  { name, partitions, cleanup }: TopicSpec,
  ends: Ends,
): Promise<TopicFiles> {
  const { schemas, folder } = transfer;
  const codec = await schemas.codec<unknown>(name);
  const schema = { file: `schemas/${name}.avsc`, id: codec.schemaId };
  await writeFile(join(folder, schema.file), codec.schema, { flag: 'wx' });
  await mkdir(join(folder, name), { mode: 0o700 });
  const files: PartitionFile[] = [];
  for (let partition = 0; partition < partitions; partition += 1) {
    const end = ends.get(`${name}/${partition}`) ?? 0;
    const written = await exportPartition(transfer, { topic: name, partition, end }, codec);
    files.push(written);
    transfer.progress({ topic: `${name}/${partition}`, messages: written.messages });
  }
  return { name, partitions, cleanup, schema, files };
}

async function exportPartition(
  { log, folder }: Transfer,
  {
    topic,
    partition,
    end,
  }: { readonly topic: string; readonly partition: number; readonly end: number },
  codec: Codec<unknown>,
): Promise<PartitionFile> {
  const file = `${topic}/${partition}.log`;
  const start = await log.startOffset(topic, partition);
  await using handle = await open(join(folder, file), 'wx', 0o600);
  await handle.write(magic);
  let bytes = magic.length;
  let messages = 0;
  let pending: Entry[] = [];
  const flush = async (): Promise<void> => {
    if (pending.length > 0) bytes += await writeBlock(handle, pending);
    pending = [];
  };
  let size = 0;
  for await (const batch of log.read({ topic, partition, offset: start })) {
    for (const message of batch.messages) {
      if (message.offset >= end) continue;
      pending.push(entryOf(message, codec));
      messages += 1;
      size += message.key.length + (message.value?.length ?? 0);
      if (size < blockBytes) continue;
      await flush();
      size = 0;
    }
  }
  await flush();
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
