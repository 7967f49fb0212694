import { routesWith } from '#http/define-route.ts';
import type { RecordsServices } from '#modules/records/services.ts';
import type { FindRecordReaders } from './functions/record-readers.ts';
import type { RunsClient } from './runs/invocation/client.ts';

export interface FunctionsServices extends RecordsServices {
  readonly runs: RunsClient;
  readonly recordReaders: FindRecordReaders;
}

export const defineRoute = routesWith<FunctionsServices>();
