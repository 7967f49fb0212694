import type { Batch, EventLog, Position } from '#ports/event-log.ts';

/** A log as of one moment: everything that was committed until then, and nothing later. */
export interface LogSnapshot extends Pick<
  EventLog,
  'identity' | 'startOffsets' | 'endOffsets' | 'committed'
> {
  /** Reads from the position to the end of its partition. @throws GatewayError `log_corrupt` */
  read(from: Position): AsyncIterable<Batch>;
  /** The Avro schema, as JSON, with the id that frames values; null: there is none. */
  schema(id: number): string | null;
}
