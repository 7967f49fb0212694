import { open, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../../../kernel/errors.ts';
import type { EventLog, Message } from '../../../ports/event-log.ts';
import type { Codec } from '../../../ports/schemas.ts';
import { framedId, type Transfer } from './export.ts';
import { corrupted, decodeBlock, magic, prefixBytes, unframed, type Entry } from './frames.ts';
import { readManifest, type Manifest, type PartitionFile, type TopicFiles } from './manifest.ts';
import { OffsetMap } from './offset-map.ts';
import { translations, type Offsets } from './translate.ts';

/**
 * Imports the folder into an empty log: messages with their timestamps, new schema ids, offsets in values translated,
 * and the positions of groups. An interrupted import starts again with an empty log.
 * @throws GatewayError `conflict` when the log is not empty; `log_corrupt` naming the file; `invalid_request`
 */
export async function importLog(transfer: Transfer): Promise<Manifest> {
  const { log, folder } = transfer;
  const manifest = await readManifest(folder);
  mustFit(transfer, manifest);
  await log.ensureTopics(transfer.topics);
  await mustBeEmpty(log, manifest.topics);
  const maps = new Map<string, OffsetMap>();
  const offsets: Offsets = (topic, partition) => maps.get(`${topic}/${partition}`) ?? null;
  const isNaming = ({ name }: TopicFiles): boolean => translations[name] !== undefined;
  const inOrder = [
    ...manifest.topics.filter((topic) => !isNaming(topic)),
    ...manifest.topics.filter(isNaming),
  ];
  for (const topic of inOrder) {
    const codec = await codecOf(transfer, topic);
    for (const file of topic.files) {
      const map = await importPartition(transfer, topic, file, { codec, offsets });
      maps.set(`${topic.name}/${file.partition}`, map);
      transfer.progress({ topic: `${topic.name}/${file.partition}`, messages: file.messages });
    }
  }
  for (const { group, topic, positions } of manifest.groups) {
    const moved = Object.entries(positions).map(([number, offset]) => {
      const partition = Number(number);
      return { topic, partition, offset: offsets(topic, partition)?.next(offset) ?? offset };
    });
    if (moved.length > 0) await log.commit({ group, positions: moved });
  }
  return manifest;
}

/** @throws GatewayError `conflict` when this service has another number of partitions */
function mustFit({ topics }: Transfer, manifest: Manifest): void {
  for (const { name, partitions } of manifest.topics) {
    const here = topics.find((spec) => spec.name === name);
    if (here?.partitions === partitions) continue;
    const message =
      here === undefined
        ? `This release has no topic ${name}: import with the release ${manifest.version} or a later one.`
        : `${name} has ${partitions} partitions in the export and ${here.partitions} here: set SVC_PARTITIONS to the same.`;
    throw new GatewayError('conflict', { message });
  }
}

async function mustBeEmpty(log: EventLog, topics: readonly TopicFiles[]): Promise<void> {
  for (const { name, partitions } of topics) {
    for (let partition = 0; partition < partitions; partition += 1) {
      if ((await log.endOffset(name, partition)) === 0) continue;
      const message = `${name} already contains messages: a log can only be imported into an empty one.`;
      throw new GatewayError('conflict', { message });
    }
  }
}

async function codecOf({ schemas, folder }: Transfer, topic: TopicFiles): Promise<Codec<unknown>> {
  const definition = await readFile(join(folder, topic.schema.file), 'utf8');
  return schemas.codecOf<unknown>(topic.name, JSON.parse(definition) as object);
}

interface Rewriting {
  readonly codec: Codec<unknown>;
  readonly offsets: Offsets;
}

async function importPartition(
  { log, folder }: Transfer,
  topic: TopicFiles,
  file: PartitionFile,
  rewriting: Rewriting,
): Promise<OffsetMap> {
  const { partition } = file;
  const map = new OffsetMap();
  let count = 0;
  for await (const entries of blocksOf(folder, file)) {
    const messages = entries.map((entry) => messageOf(topic, partition, entry, rewriting));
    const [position] = await log.append([{ topic: topic.name, partition, messages }]);
    entries.forEach(({ offset }, at) => map.add(offset, (position?.offset ?? 0) + at));
    count += entries.length;
  }
  if (count !== file.messages) throw corrupted(file.file);
  return map;
}

function messageOf(
  { name, schema }: TopicFiles,
  partition: number,
  { key, headers, value, timestamp }: Entry,
  { codec, offsets }: Rewriting,
): Message {
  if (value === null || framedId(value) !== schema.id) return { key, headers, value, timestamp };
  const framed = Buffer.from(value);
  framed.writeUInt32BE(codec.schemaId, 1);
  const translate = translations[name];
  if (translate === undefined) return { key, headers, value: framed, timestamp };
  const changed = translate(codec.decode(framed) as never, offsets, partition);
  return { key, headers, value: codec.encode(changed), timestamp };
}

/** @throws GatewayError `log_corrupt` naming the file */
async function* blocksOf(folder: string, { file }: PartitionFile): AsyncGenerator<Entry[]> {
  await using handle = await open(join(folder, file), 'r');
  let at = magic.length;
  if (!(await bytesAt(handle, 0, at)).equals(magic)) throw corrupted(file);
  const { size } = await handle.stat();
  while (at < size) {
    const prefix = await bytesAt(handle, at, prefixBytes);
    if (prefix.length < prefixBytes) throw corrupted(file);
    const length = prefixBytes + prefix.readUInt32BE(0);
    const framed = await bytesAt(handle, at, Math.min(length, size - at));
    yield decodeBlock(unframed(framed, 0, file), file);
    at += length;
  }
}

async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
