import { routesWith } from '#http/define-route.ts';
import type { ServerServices, ServerSettings } from '#http/server-services.ts';
import type { AccessServices } from '#modules/access/services.ts';
import type { ConnectionsServices } from '#modules/connections/services.ts';
import type { FunctionsServices } from '#modules/functions/services.ts';
import type { OperationsServices } from '#modules/operations/services.ts';
import type { ProxyServices } from '#modules/proxy/routes.ts';
import type { RecordsServices } from '#modules/records/services.ts';
import type { WebhooksServices } from '#modules/webhooks/services.ts';

export interface ApiSettings extends ServerSettings {
  /** Set once the server listens, if it is empty. */
  publicUrl: string;
  /** Whether this process refuses every write. */
  readonly isReadOnly: boolean;
}

/** The services that handlers of all routes receive. */
export type Services = ServerServices &
  AccessServices &
  ConnectionsServices &
  RecordsServices &
  FunctionsServices &
  WebhooksServices &
  ProxyServices &
  OperationsServices & { readonly settings: ApiSettings };

export const defineRoute = routesWith<Services>();
