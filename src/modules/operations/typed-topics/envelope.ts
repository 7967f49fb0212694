import type { JsonObject } from '#kernel/stable-json.ts';
import type { Micros } from '#kernel/time.ts';
import { namespaceOf } from './names.ts';
import { mapModel } from './row-mapping.ts';

/** A row of a typed topic: the model's fields, `_extra`, and the common fields. */
export type Row = Readonly<Record<string, unknown>>;

/** A value of a typed topic: the change event of Debezium, which its transforms and many sinks support. */
export interface Envelope {
  /** For a delete: the deleted row, as far as available. Null for other operations (see README.md). */
  readonly before: Row | null;
  readonly after: Row | null;
  readonly source: {
    readonly version: string;
    readonly connector: 'svc';
    readonly name: string;
    /** When the record changed. */
    readonly ts_ms: number;
    readonly snapshot: 'true' | 'false';
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
  readonly transaction: null;
}

export interface RowKey {
  readonly recordId: string;
  readonly connectionId: string;
  readonly variant: string;
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
const field = (name: string, type: unknown, doc: string) => ({ name, type, doc });

function envelope(address: string, model: string, value: object): object {
  return {
    type: 'record',
    name: 'Envelope',
    namespace: namespaceOf(address),
    doc: `Changes of the records of the model ${model}, as Debezium change events.`,
    fields: [
      optional('before', value, 'Of a delete: the row as it was, as far as it is known.'),
      optional('after', 'Value', 'The row after the change; null of a delete.'),
      field('source', source, 'Where the change comes from.'),
      field('op', 'string', 'c created, u updated, d deleted, r read again by a backfill.'),
      optional('ts_ms', 'long', 'When this message was made, in milliseconds.'),
      optional('ts_us', 'long', 'The same in microseconds.'),
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
      doc: 'true where a backfill reads again.',
    },
    field('connection_id', 'string', 'Id the application gave the connection.'),
    optional('sync', 'string', 'The sync that caused the change.'),
    field('variant', 'string', 'Variant of the sync.'),
    field('seq', 'long', 'stream_seq of the change on the records topic.'),
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
