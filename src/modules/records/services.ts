import type { Publisher } from '#control-plane/publisher.ts';
import { routesWith } from '#http/define-route.ts';
import type { ConnectionsServices } from '#modules/connections/services.ts';
import type { ReadableRuns } from './read/readable.ts';
import type { RecordReader } from './read/reader.ts';
import type { RecordWriter } from './write/writer.ts';

export interface RecordsServices extends ConnectionsServices {
  readonly publisher: Publisher;
  readonly records: { readonly reader: RecordReader; readonly writer: RecordWriter };
  readonly readableRuns: ReadableRuns;
}

export const defineRoute = routesWith<RecordsServices>();
