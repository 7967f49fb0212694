import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import avro, { type Type } from 'avsc';
import { topics, type TopicName } from '#streams/topics.ts';

/** Events as a release encodes them: `events/<topic>/<release>.json`. Never changed once released. */
export interface Golden {
  readonly topic: TopicName;
  /** The schema they were written with, under `schemas/released/`. */
  readonly schema: string;
  readonly events: readonly {
    readonly name: string;
    readonly value: unknown;
    /** Avro in hex, without the frame: ids of schemas differ from log to log. */
    readonly encoded: string;
  }[];
}

/** Where released schemas and golden events are kept. */
export interface Folders {
  /** Of `schemas/`: with today's files, and `released/` beneath. */
  readonly schemas: URL;
  readonly events: URL;
}

export const folders: Folders = {
  schemas: new URL('../../schemas/', import.meta.url),
  events: new URL('events/', import.meta.url),
};

export const topicNames = Object.keys(topics) as TopicName[];

/** JSON has no bytes: they are written `{"base64": "…"}`. */
export function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toJson(inner)]));
}

export function fromJson(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(fromJson);
  if (typeof json !== 'object' || json === null) return json;
  const entries = Object.entries(json);
  if (entries.length === 1 && entries[0]?.[0] === 'base64') {
    return Buffer.from(String(entries[0][1]), 'base64');
  }
  return Object.fromEntries(entries.map(([name, inner]) => [name, fromJson(inner)]));
}

interface RecordSchema {
  readonly fields: readonly { readonly name: string; readonly type: unknown }[];
}

/** A sample of each field of the schema. */
const sampleOf = ({ fields }: RecordSchema): Record<string, unknown> =>
  Object.fromEntries(fields.map(({ name, type }) => [name, sampleOfType(type, name)]));

function sampleOfType(type: unknown, name: string): unknown {
  if (Array.isArray(type)) {
    const branch: unknown = type.find((one) => one !== 'null');
    return sampleOfType(branch, name);
  }
  if (typeof type === 'object' && type !== null) {
    const schema = type as { type: unknown; items?: unknown; values?: unknown };
    if (schema.type === 'array') return [sampleOfType(schema.items, name)];
    if (schema.type === 'map') return { [name]: sampleOfType(schema.values, name) };
    if (schema.type === 'record') return sampleOf(type as RecordSchema);
    return sampleOfType(schema.type, name);
  }
  if (type === 'string') return `A ${name}.`;
  if (type === 'bytes') return Buffer.from(name);
  return type === 'boolean' ? true : 1_790_000_000;
}

/**
 * A value of each field, null for none: that of the newest release, and a sample for a field that is new or has another
 * type.
 */
export function fullOf(topic: TopicName, to = folders): object {
  const schema = JSON.parse(todaysSchema(topic, to)) as RecordSchema;
  const newest = releasesOf(topic, to).at(-1);
  if (newest === undefined) return sampleOf(schema);
  const released = JSON.parse(releasedSchema(topic, newest, to)) as RecordSchema;
  const full = fromJson(readGolden(topic, newest, to).events[0]?.value) as object;
  const isKept = (name: string): boolean => {
    const [then, now] = [released, schema].map((one) =>
      bare(JSON.stringify(one.fields.find((field) => field.name === name)?.type ?? null)),
    );
    return then === now;
  };
  const kept = Object.entries(full).filter(([name]) => isKept(name));
  return { ...sampleOf(schema), ...Object.fromEntries(kept) };
}

/** What the value becomes when everything that may be absent is: nulls, empty arrays, empty maps. */
export function leastOf(value: object, schema: RecordSchema) {
  const least = ({ name, type }: { name: string; type: unknown }): unknown => {
    if (Array.isArray(type) && type.includes('null')) return null;
    const kind = typeof type === 'object' && type !== null && 'type' in type ? type.type : type;
    if (kind === 'array') return [];
    return kind === 'map' ? {} : (value as Record<string, unknown>)[name];
  };
  return Object.fromEntries(schema.fields.map((field) => [field.name, least(field)]));
}

export const readType = (definition: string): Type =>
  avro.Type.forSchema(JSON.parse(definition) as avro.Schema);

export const todaysSchema = (topic: TopicName, { schemas } = folders): string =>
  readFileSync(new URL(topics[topic].schema, schemas), 'utf8');

/** `records/record-change.v1/0.67.0.avsc` for a release of the topic's schema. */
export const releasedPath = (topic: TopicName, release: string): string =>
  `${topics[topic].schema.replace(/\.avsc$/, '')}/${release}.avsc`;

/** The releases in which the topic's schema was new or changed, oldest first. */
export function releasesOf(topic: TopicName, { schemas } = folders): string[] {
  const folder = new URL(`released/${releasedPath(topic, 'x').replace('x.avsc', '')}`, schemas);
  if (!existsSync(folder)) return [];
  const numbers = (release: string) => release.split('.').map(Number);
  const releases = globSync('*.avsc', { cwd: fileURLToPath(folder) });
  return releases
    .map((file) => file.replace(/\.avsc$/, ''))
    .sort((a, b) => {
      const [one, other] = [numbers(a), numbers(b)];
      return one.map((part, i) => part - (other[i] ?? 0)).find((sign) => sign !== 0) ?? 0;
    });
}

export const releasedSchema = (topic: TopicName, release: string, { schemas } = folders): string =>
  readFileSync(new URL(`released/${releasedPath(topic, release)}`, schemas), 'utf8');

/** The schema without its comments. */
const bare = (text: string): string =>
  JSON.stringify(JSON.parse(text, (name, inner: unknown) => (name === 'doc' ? undefined : inner)));

/** Whether two schemas are the same but for their comments. */
export const isSameSchema = (one: string, other: string): boolean => bare(one) === bare(other);

export const goldenFile = (topic: TopicName, release: string, { events } = folders): URL =>
  new URL(`${topic}/${release}.json`, events);

export const readGolden = (topic: TopicName, release: string, to = folders): Golden =>
  JSON.parse(readFileSync(goldenFile(topic, release, to), 'utf8')) as Golden;
