import { routesWith } from '#http/define-route.ts';
import type { CommonServices } from '#modules/access/services.ts';
import type { Stream } from './model/stream.ts';
import type { ReadableRuns } from './read/readable.ts';
import type { RecordReader } from './read/reader.ts';
import type { RecordWriter } from './write/writer.ts';

/** The models that the functions of an integration declare. */
export interface ModelNames {
  readonly all: ReadonlySet<string>;
  /** Those of its syncs, which alone have records; in the order of the alphabet. */
  readonly synced: readonly string[];
}

/** What the functions of this gateway declare. */
export interface DeclaredModels {
  find(environmentUid: string, integrationKey: string): ModelNames;
  /** Variants of the syncs of the stream's connection. */
  variantsOf(stream: Stream): readonly string[];
}

export interface RecordAccess {
  readonly reader: RecordReader;
  readonly writer: RecordWriter;
}

export interface RecordParts {
  readonly records: RecordAccess;
  readonly readableRuns: ReadableRuns;
  readonly declaredModels: DeclaredModels;
}

export interface PartitionSettings {
  /** Of the owned topics. */
  readonly partitions: number;
}

/** Services of the routes of this wing. */
export type RecordsServices = CommonServices &
  RecordParts & { readonly settings: PartitionSettings };

export const defineRoute = routesWith<RecordsServices>();
