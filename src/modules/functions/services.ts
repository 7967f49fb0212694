import type { Publisher } from '#control-plane/publisher.ts';
import { routesWith } from '#http/define-route.ts';
import type { CommonServices } from '#modules/access/services.ts';
import type { ProviderAccess } from '#modules/connections/services.ts';
import type { PartitionSettings, RecordParts } from '#modules/records/services.ts';
import type { FindRecordReaders } from './functions/record-readers.ts';
import type { RunsClient } from './runs/invocation/client.ts';

export interface RunCalls {
  readonly runs: RunsClient;
}

export interface FunctionParts extends RunCalls {
  readonly recordReaders: FindRecordReaders;
  readonly publisher: Publisher;
}

export interface ReleaseSettings {
  /** Of this package. */
  readonly version: string;
  /** The earliest release that can open what this one writes. */
  readonly floor: string;
}

/** Services of the routes of this wing. */
export type FunctionsServices = CommonServices &
  ProviderAccess &
  RecordParts &
  FunctionParts & { readonly settings: PartitionSettings & ReleaseSettings };

export const defineRoute = routesWith<FunctionsServices>();
