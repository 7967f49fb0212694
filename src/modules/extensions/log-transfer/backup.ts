import { createHash } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import {
  isErasable,
  type LogSnapshot,
  type ReadMessage,
  type TopicSpec,
} from '#ports/event-log.ts';
import {
  BackupFolder,
  dataFileOf,
  type Backup,
  type PartitionPart,
  type TopicBackup,
} from './backup-folder.ts';
import { blockBytes, framedId, groupsOf, leftBehind } from './export.ts';
import { encodeBlock, magic, type Entry } from './frames.ts';
import type { FramingSchema } from './source.ts';

interface BackupInput {
  readonly snapshot: LogSnapshot;
  /** When the snapshot was complete. */
  readonly madeAt: number;
  readonly folder: string;
  readonly version: string;
  /** Every topic of the service. */
  readonly topics: readonly TopicSpec[];
}

type Append = (bytes: Uint8Array) => Promise<void>;

/**
 * Adds a backup to the folder: what the log has beyond the last one there.
 * @throws GatewayError `conflict` if the folder is of another log; `log_corrupt` naming a damaged place of the log, or a
 *   damaged file of the folder
 */
export async function takeBackup(input: BackupInput): Promise<Backup> {
  const { snapshot, version } = input;
  const folder = new BackupFolder(input.folder);
  const list = await folder.list();
  await folder.prepare(list);
  const previous = list.at(-1) ?? null;
  const chain = previous === null ? [] : await folder.chain(previous);
  const log = await snapshot.identity();
  mustBeOf(log, chain, input.folder);
  const made_at = new Date(input.madeAt).toISOString();
  const id = made_at.replaceAll(/[:.]/g, '-');
  const file = dataFileOf(id);
  const groups = await groupsOf(snapshot);
  const specs = input.topics
    .filter(({ name }) => !leftBehind.has(name))
    .sort((one, other) => hurryOf(one) - hurryOf(other));
  const { topics, bytes } = await folder.writeData(file, async (append) => {
    const writer = new PartWriter(snapshot, append);
    await writer.write(magic);
    const written: TopicBackup[] = [];
    for (const spec of specs) written.push(await writer.topic(spec, endsIn(chain, spec.name)));
    return { topics: written, bytes: writer.position };
  });
  const ref = previous === null ? null : { id: previous.id, sha256: previous.sha256 };
  const backup: Backup = {
    format: 1,
    id,
    made_at,
    version,
    log,
    previous: ref,
    file,
    bytes,
    topics,
    groups,
  };
  await folder.add(backup, list);
  return backup;
}

/** Read first: topics of which compaction may soon remove what the snapshot has. */
function hurryOf({ name, cleanup }: TopicSpec): number {
  if (isErasable({ cleanup })) return 0;
  return cleanup.policy === 'compact' && name !== recordsTopic ? 1 : 2;
}

/** @throws GatewayError `conflict` */
function mustBeOf(log: string, chain: readonly Backup[], folder: string): void {
  const last = chain.at(-1);
  if (last === undefined || last.log === log) return;
  const message = `${folder} has backups of another log (${last.log}; this one is ${log}): name another folder.`;
  throw new GatewayError('conflict', { message });
}

const endsIn = (chain: readonly Backup[], topic: string): readonly number[] =>
  chain.at(-1)?.topics.find(({ name }) => name === topic)?.ends ?? [];

/** Writes the parts of a data file. */
class PartWriter {
  position = 0;
  readonly #snapshot: LogSnapshot;
  readonly #append: Append;

  constructor(snapshot: LogSnapshot, append: Append) {
    this.#snapshot = snapshot;
    this.#append = append;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#append(bytes);
    this.position += bytes.length;
  }

  /** @param former the ends of the last backup */
  async topic({ name }: TopicSpec, former: readonly number[]): Promise<TopicBackup> {
    const starts = await this.#snapshot.startOffsets(name);
    const ends = await this.#snapshot.endOffsets(name);
    const schemas = new Map<number, FramingSchema>();
    const parts: PartitionPart[] = [];
    for (const [partition, end] of ends.entries()) {
      const start = Math.max(starts[partition] ?? 0, former[partition] ?? 0);
      mustNotEndBefore(former[partition] ?? 0, end, `${name}/${partition}`);
      if (start < end) parts.push(await this.#part({ name, partition, start, end }, schemas));
    }
    const sorted = [...schemas.values()].sort((one, other) => one.id - other.id);
    return { name, partitions: ends.length, starts, ends, schemas: sorted, parts };
  }

  async #part(
    range: { readonly name: string; readonly partition: number; start: number; end: number },
    schemas: Map<number, FramingSchema>,
  ): Promise<PartitionPart> {
    const { name: topic, partition, start, end } = range;
    const { position } = this;
    const hash = createHash('sha256');
    let messages = 0;
    let pending: Entry[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      if (pending.length === 0) return;
      const block = encodeBlock(pending);
      hash.update(block);
      await this.write(block);
      messages += pending.length;
      pending = [];
      size = 0;
    };
    for await (const batch of this.#snapshot.read({ topic, partition, offset: start })) {
      for (const message of batch.messages) {
        if (message.offset >= end) continue;
        this.#noteSchema(message, schemas);
        const { offset, timestamp, key, headers, value } = message;
        pending.push({ offset, timestamp, key, headers, value });
        size += key.length + (value?.length ?? 0);
        if (size >= blockBytes) await flush();
      }
    }
    await flush();
    const bytes = this.position - position;
    return { partition, start, end, messages, position, bytes, sha256: hash.digest('hex') };
  }

  #noteSchema({ value }: ReadMessage, schemas: Map<number, FramingSchema>): void {
    const id = value === null ? null : framedId(value);
    if (id === null || schemas.has(id)) return;
    const definition = this.#snapshot.schema(id);
    if (definition !== null) schemas.set(id, { id, definition });
  }
}

/** @throws GatewayError `conflict` */
function mustNotEndBefore(former: number, end: number, place: string): void {
  if (former <= end) return;
  const message = `${place} ends at offset ${end}, and the last backup has it up to ${former}: the log has lost messages. Restore that backup, or name another folder to go on without them.`;
  throw new GatewayError('conflict', { message });
}
