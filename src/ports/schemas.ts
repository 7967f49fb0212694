/** Encodes values of one subject to framed bytes and back. */
export interface Codec<T> {
  /** The schema that `encode` writes, as Avro JSON, and the id that frames it. */
  readonly schema: string;
  readonly schemaId: number;
  /** Registry framing: 0x00, the schema id as 4 bytes big-endian, then Avro binary. */
  encode(value: T): Buffer;
  /** Reads any version of the subject that was ever registered. */
  decode(bytes: Uint8Array): T;
}

/** A value of any topic as it was written. */
export interface WrittenValue {
  readonly schemaId: number;
  readonly value: unknown;
}

/**
 * The schema registry. A subject is a topic name with `-value` (TopicNameStrategy); its compatibility is
 * FULL_TRANSITIVE.
 */
export interface Schemas {
  /**
   * The codec of a topic's values; registers the schema file that `streams/topics.ts` names.
   * @throws GatewayError `incompatible_schema`
   */
  codec<T>(topic: string): Promise<Codec<T>>;

  /**
   * The codec of a topic that is created at run time; registers the given Avro schema (as JSON).
   * @throws GatewayError `incompatible_schema`: no Avro schema, or one incompatible with earlier versions of the
   *   topic; nothing was registered then
   */
  codecOf<T>(topic: string, definition: object): Promise<Codec<T>>;

  /**
   * Decodes a value by the schema that its frame names, whatever its topic. Throws if the value has no frame or does
   * not fit the schema.
   * @throws GatewayError `log_corrupt`: no frame, or an unknown schema
   */
  decodeWritten(bytes: Uint8Array): WrittenValue;

  /** The Avro schema that the id names, as JSON; null: there is none. That of a value that was read is always known. */
  definition(id: number): string | null;
}
