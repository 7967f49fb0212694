import type { Publisher } from '#control-plane/publisher.ts';
import { routesWith } from '#http/define-route.ts';
import type { ConnectionsServices } from '#modules/connections/services.ts';
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

export interface RecordsServices extends ConnectionsServices {
  readonly publisher: Publisher;
  readonly records: { readonly reader: RecordReader; readonly writer: RecordWriter };
  readonly readableRuns: ReadableRuns;
  readonly declaredModels: DeclaredModels;
}

export const defineRoute = routesWith<RecordsServices>();
