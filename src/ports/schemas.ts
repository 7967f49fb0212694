/** Turns values of one subject into framed bytes and back. */
export interface Codec<T> {
  /** Registry framing: 0x00, the schema id as 4 bytes big-endian, then Avro binary. */
  encode(value: T): Buffer;
  /** Reads any version of the subject that was ever registered. */
  decode(bytes: Uint8Array): T;
}

/**
 * The schema registry. A subject is a topic name with `-value` (TopicNameStrategy); its compatibility is
 * FULL_TRANSITIVE.
 */
export interface Schemas {
  /**
   * The codec of a topic's values, with the schema file that `streams/topics.ts` names registered.
   * @throws GatewayError `incompatible_schema`
   */
  codec<T>(topic: string): Promise<Codec<T>>;
}
