import type { Micros } from '#kernel/time.ts';
import type { Entry } from './frames.ts';
import type { Manifest } from './manifest.ts';

/** An Avro schema of values, as JSON, and the id that frames them. */
export interface FramingSchema {
  readonly definition: string;
  readonly id: number;
}

export interface SourceTopic {
  readonly name: string;
  readonly partitions: number;
  /** Of all values, the newest last. */
  readonly schemas: readonly FramingSchema[];
}

/** What a log is filled from: the files of an export or of a backup, or another log. */
export interface Source extends Pick<Manifest, 'version' | 'groups'> {
  /** Readers may have seen changes that were made after the content and before this time; null: there were none. */
  readonly restoredAt: Micros | null;
  readonly topics: readonly SourceTopic[];
  /** All messages of the partition in order, in blocks. @throws GatewayError `log_corrupt` naming the file */
  blocks(topic: string, partition: number): AsyncIterable<readonly Entry[]>;
}
