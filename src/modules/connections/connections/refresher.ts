import type { Connection } from './state.ts';

export interface FreshOptions {
  /** Refreshes independent of the expiry; ignores back-off and exhaustion. */
  readonly isForced?: boolean;
  /** The version for which the provider returned 401: refreshed unless others are stored already. */
  readonly rejectedVersion?: number;
}

/**
 * Returns connections with fresh credentials. One refresh at a time for each connection: in this process by sharing the
 * promise, between nodes by a lease, and finally by the owner of the connection, which accepts one intent at a time
 * (docs/reference/auth-modes.md#freshness-and-refresh).
 */
export interface Refresher {
  /**
   * @throws GatewayError `connection_refresh_backoff`, `connection_refresh_exhausted` (424: nothing was tried),
   *   `invalid_credentials` (the refresh failed), `unknown_connection`
   */
  fresh(connection: Connection, options?: FreshOptions): Promise<Connection>;
}
