import { createHash } from 'node:crypto';
import type { ConnectionId, ConnectionUid, EnvironmentUid, IntegrationKey } from '#kernel/ids.ts';
import { joinKey } from '#kernel/ids.ts';
import { hourMs } from '#kernel/time.ts';

/** A stream of records: one order, one sequence and one head (docs/reference/records.md#streams). */
export interface StreamId {
  readonly environmentUid: EnvironmentUid;
  readonly connectionUid: ConnectionUid;
  readonly model: string;
  /** `base` unless the sync has variants. */
  readonly variant: string;
}

/** The stream with the names that its changes carry as values. */
export interface Stream extends StreamId {
  readonly integration: IntegrationKey;
  readonly connectionId: ConnectionId;
}

/** A run that sends nothing to its streams is noted in their heads only if none was for this time. */
export const runNotedMs = 6 * hourMs;

/** Variant of a sync that has none of its own. */
export const baseVariant = 'base';

/** Text of a stream: key of its head and its commands, and input of its partition. */
export function streamKey(stream: StreamId): string {
  return joinKey(stream.environmentUid, stream.connectionUid, stream.model, stream.variant);
}

/** Number of the stream in tables: the first 8 bytes of SHA-256 of its key, as an unsigned integer. */
export function streamNumber(key: string): bigint {
  return createHash('sha256').update(key).digest().readBigUInt64BE(0);
}
