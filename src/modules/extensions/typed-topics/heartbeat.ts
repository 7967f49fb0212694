import type { Clock } from '#kernel/time.ts';
import { namespaceOf } from './names.ts';

/** A value of a heartbeat topic: Debezium's, with the place on the records topic. */
export interface Heartbeat {
  readonly ts_ms: number;
  readonly ts_us: number;
  readonly topic: string;
  /** Changes of the partition of `svc.records.v1` before this offset are published. */
  readonly records_offset: number;
}

const field = (name: string, type: string, doc: string) => ({ name, type, doc });

/** Avro schema of the heartbeats of a typed topic. */
export const heartbeatSchema = (address: string) => ({
  type: 'record',
  name: 'Heartbeat',
  namespace: namespaceOf(address),
  doc: 'Progress of a partition of a typed topic, also while no record changes.',
  fields: [
    field('ts_ms', 'long', 'When this message was made, in milliseconds.'),
    field('ts_us', 'long', 'The same in microseconds.'),
    field('topic', 'string', 'The typed topic with its major version.'),
    field(
      'records_offset',
      'long',
      'Changes of this partition of the records topic before this offset are on the typed topic.',
    ),
  ],
});

export function heartbeat(clock: Clock, topic: string, recordsOffset: number): Heartbeat {
  const at = clock.nowMicros();
  return { ts_ms: Math.floor(at / 1000), ts_us: at, topic, records_offset: recordsOffset };
}
