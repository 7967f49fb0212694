import { type JsonObject, isJsonObject, objectOf, type Json } from '#kernel/stable-json.ts';
import { type Micros, microsOf } from '#kernel/time.ts';
import { namespaceOf, avroName } from './names.ts';

/** A value that does not match the declared type: it goes to `_extra` of the enclosing record. */
const misfit: unique symbol = Symbol('misfit');

/** An Avro type and the conversion of JSON to its values. The enclosing union handles null. */
interface AvroMapping {
  readonly avro: unknown;
  readonly convert: (value: Json) => unknown;
}

/** The context of a recursive mapping. */
interface Context {
  /** The root JSON Schema of references. */
  readonly root: JsonObject;
  /** References on the current path: a repeated one is a cycle. */
  readonly followed: ReadonlySet<string>;
  /** Avro name of the record for a schema at this position. */
  readonly name: string;
}

interface RowMapping {
  /** Avro fields of the model, and `_extra` for all other values. All are nullable. */
  readonly fields: readonly object[];
  readonly convert: (record: JsonObject) => Record<string, unknown>;
}

const json: AvroMapping = { avro: 'string', convert: (value) => JSON.stringify(value) };
const text: AvroMapping = {
  avro: 'string',
  convert: (value) => (typeof value === 'string' ? value : misfit),
};
const bool: AvroMapping = {
  avro: 'boolean',
  convert: (value) => (typeof value === 'boolean' ? value : misfit),
};
const double: AvroMapping = {
  avro: 'double',
  convert: (value) => (typeof value === 'number' ? value : misfit),
};
const long: AvroMapping = {
  avro: 'long',
  convert: (value) =>
    typeof value === 'number' &&
    Math.abs(value) < Number.MAX_SAFE_INTEGER &&
    Number.isInteger(value)
      ? value
      : misfit,
};
/** The name for Kafka Connect corresponds to Avro's logical type. */
const timestamp: AvroMapping = {
  avro: {
    type: 'long',
    logicalType: 'timestamp-micros',
    'connect.name': 'io.debezium.time.MicroTimestamp',
  },
  convert: (value) => (typeof value === 'string' ? (microsOf(value) ?? misfit) : misfit),
};
const scalars: Readonly<Record<string, AvroMapping>> = {
  integer: long,
  number: double,
  boolean: bool,
  string: text,
};

/**
 * Maps a model to the row of its topic (docs/reference/topics.md#typed-topics). Every field is nullable, required or
 * not: values of providers are not validated against the model, and FULL_TRANSITIVE requires defaults.
 * @param names Avro names in use
 */
function mapModel(
  model: string,
  schema: JsonObject,
  names: { readonly record: string; readonly reserved: readonly string[] },
): RowMapping {
  const start = { root: schema, followed: new Set<string>(), name: names.record };
  const declared = (schema['definitions'] as JsonObject | undefined)?.[model];
  const [resolved, context] = resolve(objectOf(declared), start);
  return mapFields(propertiesOf(resolved), context, names.reserved);
}

function mapFields(
  properties: JsonObject,
  context: Context,
  reserved: readonly string[],
): RowMapping {
  const columns = new Map<string, { readonly name: string; readonly mapped: AvroMapping }>();
  const taken = new Set([...reserved, '_extra', '__proto__']);
  for (const [property, schema] of Object.entries(properties)) {
    const name = avroName(property);
    if (taken.has(name)) continue;
    taken.add(name);
    const mapped = map(schema, { ...context, name: `${context.name}_${name}` });
    columns.set(property, { name, mapped });
  }
  const fields = [...columns].map(([property, { name, mapped }]) => ({
    name,
    type: ['null', mapped.avro],
    default: null,
    ...(name === property ? {} : { doc: `The field "${property}".` }),
  }));
  const extra = {
    name: '_extra',
    type: { type: 'map', values: 'string' },
    default: {},
    doc: 'JSON of what the model does not declare, or declares as another type.',
  };
  return {
    fields: [...fields, extra],
    convert(record) {
      const row: Record<string, unknown> = {};
      // Without a prototype every name is allowed.
      const rest = Object.create(null) as Record<string, string>;
      for (const { name } of columns.values()) row[name] = null;
      for (const [property, value] of Object.entries(record)) {
        const column = columns.get(property);
        if (column === undefined) {
          if (property !== 'id' || !taken.has('id')) rest[property] = JSON.stringify(value);
          continue;
        }
        const converted = value === null ? null : column.mapped.convert(value);
        if (converted === misfit) rest[property] = JSON.stringify(value);
        else row[column.name] = converted;
      }
      return { ...row, _extra: rest };
    },
  };
}

function map(schema: Json, context: Context): AvroMapping {
  if (!isJsonObject(schema)) return json;
  const [resolved, inside] = resolve(schema, context);
  const type = typeOf(resolved);
  if (type === 'string' && resolved['format'] === 'date-time') return timestamp;
  const scalar = type === null ? undefined : scalars[type];
  if (scalar !== undefined) return scalar;
  if (type === 'array' && isJsonObject(resolved['items'])) return listOf(resolved['items'], inside);
  if (type !== 'object') return json;
  const properties = propertiesOf(resolved);
  return Object.keys(properties).length === 0 ? json : recordOf(properties, inside);
}

function listOf(items: JsonObject, context: Context): AvroMapping {
  const item = map(items, context);
  return {
    avro: { type: 'array', items: ['null', item.avro] },
    convert(value) {
      if (!Array.isArray(value)) return misfit;
      const converted = value.map((one: Json) => (one === null ? null : item.convert(one)));
      return converted.includes(misfit) ? misfit : converted;
    },
  };
}

function recordOf(properties: JsonObject, context: Context): AvroMapping {
  const { fields, convert } = mapFields(properties, context, []);
  return {
    avro: { type: 'record', name: context.name, fields },
    convert: (value) => (isJsonObject(value) ? convert(value) : misfit),
  };
}

/**
 * The schema with references resolved and without the null of a union, which the union of the field has. A cycle and a
 * union of several types become free form.
 */
function resolve(schema: JsonObject, context: Context): [JsonObject, Context] {
  const { $ref: reference } = schema;
  if (typeof reference === 'string') {
    const target = context.followed.has(reference) ? null : at(context.root, reference);
    if (target === null) return [{}, context];
    return resolve(target, { ...context, followed: new Set([...context.followed, reference]) });
  }
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (!Array.isArray(branches)) return [schema, context];
  const [one, ...others] = (branches as Json[]).filter(
    (branch) => !isJsonObject(branch) || branch['type'] !== 'null',
  );
  return isJsonObject(one) && others.length === 0 ? resolve(one, context) : [{}, context];
}

/** The schema at `#/definitions/…`; null if there is none. */
function at(root: JsonObject, reference: string): JsonObject | null {
  if (!reference.startsWith('#/')) return null;
  const names = reference.slice(2).split('/');
  let found: Json | undefined = root;
  for (const name of names) {
    if (!isJsonObject(found)) return null;
    found = found[name.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return isJsonObject(found) ? found : null;
}

/** The only type of the schema other than null; null when it has none or several. */
function typeOf({ type, enum: values, const: value }: JsonObject): string | null {
  const named = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null');
  if (named.length === 1 && typeof named[0] === 'string') return named[0];
  const all = value === undefined ? values : [value];
  const isText =
    Array.isArray(all) && all.every((one: Json) => one === null || typeof one === 'string');
  return named.length === 1 && named[0] === undefined && isText ? 'string' : null;
}

const propertiesOf = ({ properties }: JsonObject): JsonObject => objectOf(properties);

/** Nanoseconds since the Unix epoch as decimal text: no double holds them. */
type Nanos = string;

/** A time in the three units of Debezium; nanoseconds by choice. */
export const timesOf = (at: Micros, hasNanoseconds = false) => ({
  ts_ms: Math.floor(at / 1000),
  ts_us: at,
  ts_ns: hasNanoseconds ? `${at}000` : null,
});

/** A row of a typed topic: the model's fields, `_extra`, and the common fields. */
export type Row = Readonly<Record<string, unknown>>;

/** How a message came about: by a change, by filling the topic, by a snapshot on request. */
export type Snapshot = 'false' | 'true' | 'incremental';

/** A value of a typed topic: the change event of Debezium, which its transforms and many sinks support. */
export interface Envelope {
  /** For a delete: the deleted row, as far as available. For an update by choice the row as it was; else null. */
  readonly before: Row | null;
  readonly after: Row | null;
  readonly source: {
    readonly version: string;
    readonly connector: 'svc';
    readonly name: string;
    /** When the record changed. */
    readonly ts_ms: number;
    readonly ts_us: Micros;
    readonly ts_ns: Nanos | null;
    readonly snapshot: Snapshot;
    readonly connection_id: string;
    readonly sync: string | null;
    readonly variant: string;
    /** stream_seq of the change. */
    readonly seq: number;
  };
  /** Create, update, delete, or read by a backfill. */
  readonly op: 'c' | 'u' | 'd' | 'r';
  /** When this message was created. */
  readonly ts_ms: number;
  readonly ts_us: Micros;
  readonly ts_ns: Nanos | null;
  readonly transaction: null;
}

export interface RowKey {
  readonly recordId: string;
  readonly connectionId: string;
  readonly variant: string;
}

/**
 * A key as Kafka Connect's JSON converter reads it: its schema and the structure. The uid, because a connection that
 * is created again has the id of the one before.
 */
export function structKey(
  address: string,
  connectionUid: string,
  variant: string,
  recordId: string,
): string {
  const fields = ['_connection_uid', '_variant', 'id'].map((name) => ({
    field: name,
    type: 'string',
    optional: false,
  }));
  const schema = { type: 'struct', optional: false, name: `${namespaceOf(address)}.Key`, fields };
  const payload = { _connection_uid: connectionUid, _variant: variant, id: recordId };
  return JSON.stringify({ schema, payload });
}

export interface TypedSchema {
  /** Avro schema of the values. */
  readonly definition: object;
  /** A row of the record; without payload only its identifying fields. */
  readonly row: (rowKey: RowKey, isDeleted: boolean, payload: JsonObject | null) => Row;
}

const own = [
  { name: 'id', type: 'string', doc: 'Id of the record.' },
  { name: '_connection_id', type: 'string', doc: 'Id the application gave the connection.' },
  { name: '_variant', type: 'string', default: 'base', doc: 'Variant of the sync.' },
  { name: '_deleted', type: 'boolean', default: false, doc: 'True in the row of a delete.' },
] as const;

/** The schema of a model's topic; `models` is the JSON schema that declares it, null when none does. */
export function typedSchema(
  address: string,
  model: string,
  models: JsonObject | null,
): TypedSchema {
  const reserved = own.map(({ name }) => name);
  const mapping = mapModel(model, models ?? {}, { record: 'Value', reserved });
  const [id, ...rest] = own;
  const value = { type: 'record', name: 'Value', fields: [id, ...mapping.fields, ...rest] };
  return {
    definition: envelope(address, model, value),
    row({ recordId, connectionId, variant }, isDeleted, payload) {
      const named = { _connection_id: connectionId, _variant: variant, _deleted: isDeleted };
      return { ...mapping.convert(payload ?? {}), id: recordId, ...named };
    },
  };
}

const optional = (name: string, type: unknown, doc: string) => ({
  name,
  type: ['null', type],
  default: null,
  doc,
});
/** Decoded as text (`avro-codec.ts`). */
const nanos = { type: 'long', logicalType: 'timestamp-nanos' };
const field = (name: string, type: unknown, doc: string) => ({ name, type, doc });

function envelope(address: string, model: string, value: object): object {
  return {
    type: 'record',
    name: 'Envelope',
    namespace: namespaceOf(address),
    doc: `Changes of the records of the model ${model}, as Debezium change events.`,
    fields: [
      optional(
        'before',
        value,
        'The row as it was, as far as it is known: of a delete, by choice of an update.',
      ),
      optional('after', 'Value', 'The row after the change; null of a delete.'),
      field('source', source, 'Where the change comes from.'),
      field('op', 'string', 'c created, u updated, d deleted, r read again by a backfill.'),
      optional('ts_ms', 'long', 'When this message was made, in milliseconds.'),
      optional('ts_us', 'long', 'The same in microseconds.'),
      optional('ts_ns', nanos, 'The same in nanoseconds; null unless the opt-in asks for it.'),
      optional('transaction', block, 'Always null: records change one by one.'),
    ],
  };
}

const source = {
  type: 'record',
  name: 'Source',
  fields: [
    field('version', 'string', 'Version of the gateway.'),
    field('connector', 'string', 'Always svc.'),
    field('name', 'string', 'The topic without its major version.'),
    field('ts_ms', 'long', 'When the record changed, in milliseconds.'),
    {
      name: 'snapshot',
      type: ['string', 'null'],
      default: 'false',
      doc: 'true where a backfill reads again, incremental in a snapshot on request.',
    },
    field('connection_id', 'string', 'Id the application gave the connection.'),
    optional('sync', 'string', 'The sync that caused the change.'),
    field('variant', 'string', 'Variant of the sync.'),
    field('seq', 'long', 'stream_seq of the change on the records topic.'),
    optional('ts_us', 'long', 'When the record changed, in microseconds.'),
    optional('ts_ns', nanos, 'The same in nanoseconds; null unless the opt-in asks for it.'),
  ],
};

const block = {
  type: 'record',
  name: 'block',
  namespace: 'event',
  fields: [
    field('id', 'string', 'Id of the transaction.'),
    field('total_order', 'long', 'Place in the transaction.'),
    field('data_collection_order', 'long', 'Place among those of the topic.'),
  ],
};
