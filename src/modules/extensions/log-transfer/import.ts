import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '#kernel/errors.ts';
import { systemClock } from '#kernel/time.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import type { EventLog, Message, PartitionMessages, TopicSpec } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import { framedId, type Transfer } from './export.ts';
import { blocksAt, bytesAt, corrupted, magic, type Entry } from './frames.ts';
import { LostTail } from './lost-tail.ts';
import { readManifest, type Manifest, type PartitionFile } from './manifest.ts';
import {
  OffsetMaps,
  translations,
  placingOf,
  type Placement,
  type DecodedEntry,
} from './offset-map.ts';
import type { Source, SourceTopic } from './source.ts';

/** The log that is filled. */
export type Target = Pick<Transfer, 'log' | 'schemas' | 'topics' | 'progress'>;

/**
 * Imports the folder into an empty log. An interrupted import starts again with an empty log.
 * @throws GatewayError `conflict` when the log is not empty; `log_corrupt` naming the file; `invalid_request`
 */
export async function importLog(transfer: Transfer): Promise<Manifest> {
  const { folder } = transfer;
  const manifest = await readManifest(folder);
  const topics = manifest.topics.map(async ({ name, partitions, schema: { file, id } }) => {
    const definition = await readFile(join(folder, file), 'utf8');
    return { name, partitions, schemas: [{ definition, id }] };
  });
  const files = new Map(
    manifest.topics.flatMap(({ name, files }) =>
      files.map((file) => [`${name}/${file.partition}`, file] as const),
    ),
  );
  await fillLog(transfer, {
    ...manifest,
    restoredAt: systemClock.nowMicros(),
    topics: await Promise.all(topics),
    async *blocks(topic, partition) {
      const file = files.get(`${topic}/${partition}`);
      if (file !== undefined) yield* blocksOf(folder, file);
    },
  });
  return manifest;
}

/**
 * Fills an empty log: messages with their timestamps, new schema ids, offsets in values translated, and the positions
 * of groups; environments note which changes are lost. In a log with more partitions each message goes where a new one of
 * its key would go.
 * @returns the number of messages written
 * @throws GatewayError `conflict` when the log is not empty, or has no multiple of the partitions; as `Source.blocks`
 */
export async function fillLog(target: Target, source: Source): Promise<number> {
  const { log } = target;
  const owned = mustFit(target.topics, source);
  await log.ensureTopics(target.topics);
  await mustBeEmpty(log, target.topics);
  const offsets = new OffsetMaps();
  const { restoredAt } = source;
  const lost = restoredAt === null ? null : new LostTail(restoredAt, ownedIn(source.topics));
  const isNaming = ({ name }: SourceTopic): boolean => translations[name] !== undefined;
  const inOrder = [
    ...source.topics.filter((topic) => !isNaming(topic)),
    ...source.topics.filter(isNaming),
  ];
  let total = 0;
  for (const topic of inOrder) {
    const { name, partitions, schemas } = topic;
    const codecs = new Map<number, Codec<unknown>>();
    for (const { id, definition } of schemas) {
      const parsed = JSON.parse(definition) as object;
      codecs.set(id, await target.schemas.codecOf<unknown>(name, parsed));
    }
    for (let partition = 0; partition < partitions; partition += 1) {
      const filling = new PartitionFill(target, topic, partition, { codecs, offsets, owned, lost });
      for await (const entries of source.blocks(name, partition)) await filling.add(entries);
      await filling.end();
      total += filling.messages;
      target.progress({ topic: `${name}/${partition}`, messages: filling.messages });
    }
  }
  for (const { group, topic, positions } of source.groups) {
    const moved = [...offsets.positions(topic, positions)].map(([partition, offset]) => {
      return { topic, partition, offset };
    });
    if (moved.length > 0) await log.commit({ group, positions: moved });
  }
  return total;
}

/**
 * The number of partitions of owned topics here.
 * @throws GatewayError `conflict` when it is no multiple of that of the source
 */
function mustFit(here: readonly TopicSpec[], { topics, version }: Source): number {
  const unknown = topics.find(({ name }) => !here.some((spec) => spec.name === name));
  if (unknown !== undefined) {
    const message = `This release has no topic ${unknown.name}: import with the release ${version} or a later one.`;
    throw new GatewayError('conflict', { message });
  }
  mustBeMultiple(ownedIn(topics), ownedIn(here));
  return ownedIn(here);
}

const ownedIn = (topics: readonly Pick<TopicSpec, 'name' | 'partitions'>[]): number =>
  topics.find(({ name }) => name === recordsTopic)?.partitions ?? 1;

/**
 * Only a multiple splits each partition by itself: what is in a new one has one former owner, one order, and epochs
 * that grow.
 * @throws GatewayError `conflict`
 */
export function mustBeMultiple(from: number, to: number): void {
  if (to % from === 0) return;
  const some = [from, 2 * from, 3 * from].join(', ');
  const message = `The log has ${from} partitions, and SVC_PARTITIONS is ${to} here: partitions can only grow, to a multiple. Set SVC_PARTITIONS to ${some} or another multiple of ${from}.`;
  throw new GatewayError('conflict', { message });
}

async function mustBeEmpty(log: EventLog, topics: readonly TopicSpec[]): Promise<void> {
  for (const { name } of topics) {
    if ((await log.endOffsets(name)).every((end) => end === 0)) continue;
    const message = `${name} already contains messages: a log can only be imported into an empty one.`;
    throw new GatewayError('conflict', { message });
  }
}

interface RewriteContext {
  /** By the schema id in the source, the newest last. */
  readonly codecs: ReadonlyMap<number, Codec<unknown>>;
  readonly offsets: OffsetMaps;
  readonly owned: number;
  readonly lost: LostTail | null;
}

/** Writes the messages of one partition of the source. */
class PartitionFill {
  messages = 0;
  readonly #target: Target;
  readonly #topic: SourceTopic;
  readonly #from: number;
  readonly #rewriting: RewriteContext;
  readonly #partitions: number;
  readonly #placing: Placement;
  /** Also reads values of the other schemas. */
  readonly #newest: Codec<unknown> | undefined;

  constructor(target: Target, topic: SourceTopic, from: number, rewriting: RewriteContext) {
    const { name, partitions } = topic;
    this.#target = target;
    this.#topic = topic;
    this.#from = from;
    this.#rewriting = rewriting;
    this.#partitions = target.topics.find((spec) => spec.name === name)?.partitions ?? partitions;
    this.#placing = placingOf(name, from, { from: partitions, to: this.#partitions });
    this.#newest = [...rewriting.codecs.values()].at(-1);
    rewriting.offsets.begin(name, from);
  }

  async add(entries: readonly Entry[]): Promise<void> {
    const { offsets } = this.#rewriting;
    const batches = new Map<number, { former: number[]; messages: Message[] }>();
    for (const entry of entries) {
      const framed = this.#framed(entry);
      const valued = { ...entry, value: this.#decoded(entry, framed) };
      const to = this.#placing.to(valued);
      if (to === null) continue;
      let batch = batches.get(to);
      if (batch === undefined) batches.set(to, (batch = { former: [], messages: [] }));
      batch.former.push(entry.offset);
      batch.messages.push(this.#message(valued, framed, to));
    }
    const places = await this.#append(batches);
    for (const [partition, first] of places) {
      for (const [at, former] of (batches.get(partition)?.former ?? []).entries()) {
        offsets.add(this.#topic.name, this.#from, partition, former, first + at);
      }
    }
  }

  /** Each of the partitions that the old one becomes gets its state. */
  async end(): Promise<void> {
    const state = this.#placing.last();
    if (state === null) return;
    const batches = new Map<number, { messages: Message[] }>();
    for (let to = this.#from; to < this.#partitions; to += this.#topic.partitions) {
      batches.set(to, { messages: [this.#message(state, null, to)] });
    }
    await this.#append(batches);
  }

  async #append(batches: ReadonlyMap<number, { readonly messages: readonly Message[] }>) {
    const { name: topic } = this.#topic;
    const placed = [...batches].map(([partition, { messages }]): PartitionMessages => {
      this.messages += messages.length;
      return { topic, partition, messages };
    });
    const places = placed.length === 0 ? [] : await this.#target.log.append(placed);
    return new Map(places.map(({ partition, offset }) => [partition, offset]));
  }

  /** With the id that its schema has here. */
  #framed({ value }: Entry): Uint8Array | null {
    const id = value === null ? null : framedId(value);
    const codec = id === null ? undefined : this.#rewriting.codecs.get(id);
    if (value === null || codec === undefined) return value;
    const framed = Buffer.from(value);
    framed.writeUInt32BE(codec.schemaId, 1);
    return framed;
  }

  /** Decodes only what is placed or translated by its value. */
  #decoded({ value }: Entry, framed: Uint8Array | null): DecodedEntry['value'] {
    if (framed === value || framed === null) return null;
    const isRead = translations[this.#topic.name] !== undefined || this.#placing.isByValue;
    return isRead ? (this.#newestCodec().decode(framed) as object) : null;
  }

  #message(
    { key, headers, timestamp, value }: DecodedEntry,
    framed: Uint8Array | null,
    to: number,
  ): Message {
    const translate = translations[this.#topic.name];
    if (value === null || translate === undefined)
      return { key, headers, timestamp, value: framed };
    const { offsets, owned, lost } = this.#rewriting;
    const move = { offsets, owned, lost, from: this.#from, to };
    const changed = translate(value as never, move);
    return { key, headers, timestamp, value: this.#newestCodec().encode(changed) };
  }

  #newestCodec(): Codec<unknown> {
    if (this.#newest !== undefined) return this.#newest;
    throw new TypeError(`${this.#topic.name} has values and no schema`);
  }
}

/** @throws GatewayError `log_corrupt` naming the file */
async function* blocksOf(
  folder: string,
  { file, messages }: PartitionFile,
): AsyncGenerator<Entry[]> {
  await using handle = await open(join(folder, file), 'r');
  const at = magic.length;
  let count = 0;
  if (!(await bytesAt(handle, 0, at)).equals(magic)) throw corrupted(file);
  const { size } = await handle.stat();
  for await (const entries of blocksAt(handle, { start: at, end: size }, file)) {
    count += entries.length;
    yield entries;
  }
  if (count !== messages) throw corrupted(file);
}
