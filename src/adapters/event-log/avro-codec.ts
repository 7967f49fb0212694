import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import avro, { type Schema, type Type } from 'avsc';
import { GatewayError } from '#kernel/errors.ts';
import type { Codec, Schemas, WrittenValue } from '#ports/schemas.ts';
import { topics } from '#streams/topics.ts';

/** The source of schema ids: the embedded log's table, or a registry. */
export interface Registry {
  /** The id of the definition (JSON text) within the subject. @throws GatewayError `incompatible_schema` */
  register(subject: string, definition: string): Promise<number>;
  /** The definition of an id, or null. Synchronous: a decoder never waits for a schema. */
  definition(id: number): string | null;
}

/** The folder of the Avro files that `streams/topics.ts` names. */
const schemasFolder = new URL('../../../schemas/', import.meta.url);

/** Registry framing: a zero byte and the schema id, big-endian. */
const frameBytes = 5;

/** The schema id of a framed value; null when it has no framing. */
export function schemaIdOf(value: Uint8Array): number | null {
  if (value.length < frameBytes || value[0] !== 0) return null;
  const byte = (at: number) => value[at] ?? 0;
  return ((byte(1) << 24) | (byte(2) << 16) | (byte(3) << 8) | byte(4)) >>> 0;
}

/** Nanoseconds exceed 2^53: decimal text. */
const nanos: Type = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE().toString(),
  toBuffer(text: string) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(text));
    return bytes;
  },
  fromJSON: (value: number | string) => String(value),
  toJSON: (text: string) => text,
  isValid: (value: unknown) => typeof value === 'string' && /^-?\d{1,18}\d?$/.test(value),
  compare: (one: string, other: string) => Number(BigInt(one) - BigInt(other)),
});

const typeHook = (schema: Schema): Type | undefined =>
  typeof schema === 'object' && 'logicalType' in schema && schema.logicalType === 'timestamp-nanos'
    ? nanos
    : undefined;

/** Longs are plain numbers: exact to 2^53, and beyond it encoding and decoding throw; but see `nanos`. */
const parseType = (schema: unknown): Type => avro.Type.forSchema(schema as Schema, { typeHook });

/** Codecs of the topics, one per topic and opener. */
export function openSchemas(registry: Registry, folder: URL = schemasFolder): Schemas {
  const codecs = new Map<string, Promise<Codec<unknown>>>();
  const written = new WrittenTypes((id) => registry.definition(id));
  return {
    codec<T>(topic: string): Promise<Codec<T>> {
      let codec = codecs.get(topic);
      if (codec === undefined) {
        codec = openCodec(registry, topic, folder);
        codecs.set(topic, codec);
        // Not cached: a failure, for example of the log, is temporary.
        codec.catch(() => codecs.delete(topic));
      }
      return codec as Promise<Codec<T>>;
    },
    codecOf: <T>(topic: string, definition: object) => register<T>(registry, topic, definition),
    decodeWritten: (bytes) => written.decode(bytes),
    definition: (id) => registry.definition(id),
  };
}

async function openCodec(registry: Registry, topic: string, folder: URL): Promise<Codec<unknown>> {
  const text = await readFile(schemaFile(topic, folder), 'utf8');
  return register(registry, topic, JSON.parse(text) as object);
}

/** The id comes first: a registry describes a schema's problem better than the parser. */
async function register<T>(registry: Registry, topic: string, schema: object): Promise<Codec<T>> {
  const text = JSON.stringify(schema);
  const id = await registry.register(`${topic}-value`, text);
  return new AvroCodec<T>(text, id, (other) => registry.definition(other));
}

/** The Avro file of a topic's values. @throws GatewayError `unknown_topic` */
function schemaFile(topic: string, folder: URL = schemasFolder): URL {
  const spec = Object.hasOwn(topics, topic) ? topics[topic as keyof typeof topics] : undefined;
  if (spec !== undefined) return new URL(spec.schema, folder);
  throw new GatewayError('unknown_topic', {
    message: `The topic ${topic} is not in streams/topics.ts.`,
  });
}

/** The schema of a topic from its file, without a registry: for tests of encoded samples. */
export function schemaText(topic: string): string {
  return readFileSync(schemaFile(topic), 'utf8');
}

export function schemaType(topic: string): Type {
  return parseType(JSON.parse(schemaText(topic)));
}

/** A schema's id, and its Avro bytes, which share the memory of the value. @throws GatewayError `log_corrupt` */
function unframed(bytes: Uint8Array): { readonly id: number; readonly body: Buffer } {
  const id = schemaIdOf(bytes);
  if (id === null) {
    throw new GatewayError('log_corrupt', { message: 'A message has no registry framing.' });
  }
  const { buffer, byteOffset, byteLength } = bytes;
  return { id, body: Buffer.from(buffer, byteOffset + frameBytes, byteLength - frameBytes) };
}

/** @throws GatewayError `log_corrupt` */
function typeOf(id: number, definition: string | null): Type {
  if (definition !== null) return parseType(JSON.parse(definition));
  throw new GatewayError('log_corrupt', {
    message: `The schema with the id ${id} does not exist.`,
  });
}

/** The types of all schemas that values were decoded by, by id. */
class WrittenTypes {
  readonly #definition: Registry['definition'];
  readonly #types = new Map<number, Type>();

  constructor(definition: Registry['definition']) {
    this.#definition = definition;
  }

  decode(bytes: Uint8Array): WrittenValue {
    const { id, body } = unframed(bytes);
    const type = this.#types.get(id) ?? typeOf(id, this.#definition(id));
    this.#types.set(id, type);
    return { schemaId: id, value: type.fromBuffer(body) as unknown };
  }
}

/** Values are encoded into this memory and then copied out; grows to the largest. */
let scratch = Buffer.alloc(64 * 1024);

export class AvroCodec<T> implements Codec<T> {
  /** Parsed on first use: most threads open more topics than they use. */
  #parsed: Type | undefined;
  readonly schemaId: number;
  /** In the form of an Avro file. */
  readonly schema: string;
  readonly #definition: (id: number) => string | null;
  /** Resolvers for other versions, by id. */
  readonly #resolvers = new Map<number, (bytes: Buffer) => unknown>();

  constructor(schema: string, id: number, definition: (id: number) => string | null) {
    this.schema = schema;
    this.schemaId = id;
    this.#definition = definition;
  }

  get #type(): Type {
    return (this.#parsed ??= parseType(JSON.parse(this.schema)));
  }

  encode(value: T): Buffer {
    let end = this.#type.encode(value, scratch, frameBytes);
    if (end < 0) {
      // Negative: the number of bytes that did not fit.
      scratch = Buffer.alloc(Math.max(scratch.length * 2, scratch.length - end));
      end = this.#type.encode(value, scratch, frameBytes);
    }
    scratch[0] = 0;
    scratch.writeUInt32BE(this.schemaId, 1);
    const bytes = Buffer.from(scratch.subarray(0, end));
    if (scratch.length > 8 * 1024 ** 2) scratch = Buffer.alloc(64 * 1024);
    return bytes;
  }

  decode(bytes: Uint8Array): T {
    const { id, body } = unframed(bytes);
    if (id === this.schemaId) return this.#type.fromBuffer(body) as T;
    return this.#resolver(id)(body) as T;
  }

  #resolver(id: number): (bytes: Buffer) => unknown {
    let read = this.#resolvers.get(id);
    if (read === undefined) {
      const resolver = this.#type.createResolver(typeOf(id, this.#definition(id)));
      read = (body) => this.#type.fromBuffer(body, resolver) as unknown;
      this.#resolvers.set(id, read);
    }
    return read;
  }
}
