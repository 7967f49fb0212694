import type { Provider } from '../providers/definition.ts';
import type { OpenedConnection, OpenedIntegration } from '../providers/inject.ts';
import type { SharedLimit } from '../rate-limits/limit-of-call.ts';
import type { FreshOptions } from './refresher.ts';
import type { Connection } from './state.ts';

/** A connection with fresh credentials, decrypted for a call to its provider. */
export interface OpenedForCall {
  readonly provider: Provider;
  readonly stored: Connection;
  readonly connection: OpenedConnection;
  readonly integration: OpenedIntegration;
  /** Null without a limit of the provider that calls share. */
  readonly limit: SharedLimit | null;
}

export interface ConnectionName {
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
}

export interface OpenedConnections extends Disposable {
  /**
   * The connection with fresh credentials; synchronous if it is cached.
   * @throws GatewayError `unknown_provider_config` (404), `unknown_connection` (400), and as `decryptForCall`
   */
  open(name: ConnectionName, options?: FreshOptions): OpenedForCall | Promise<OpenedForCall>;
}
