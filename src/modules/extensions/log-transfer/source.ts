import type { Entry } from './frames.ts';
import type { Manifest } from './manifest.ts';

export interface SourceTopic {
  readonly name: string;
  readonly partitions: number;
  /** The Avro schema of all values, and the id that frames them. */
  readonly schema: { readonly definition: string; readonly id: number };
}

/** What a log is filled from: the files of an export, or another log. */
export interface Source extends Pick<Manifest, 'version' | 'groups'> {
  readonly topics: readonly SourceTopic[];
  /** All messages of the partition in order, in blocks. @throws GatewayError `log_corrupt` naming the file */
  blocks(topic: string, partition: number): AsyncIterable<readonly Entry[]>;
}
