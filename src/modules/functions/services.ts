import { routesWith } from '../../http/define-route.ts';
import type { RecordsServices } from '../records/services.ts';
import type { RunsClient } from './runs/client.ts';

export interface FunctionsServices extends RecordsServices {
  readonly runs: RunsClient;
}

export const defineRoute = routesWith<FunctionsServices>();
