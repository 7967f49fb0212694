/** A lease held by `token`; it ends by itself. */
export interface Lease {
  readonly name: string;
  readonly token: string;
}

export interface Counted {
  readonly value: number;
  readonly resetMs: number;
}

/**
 * Leases, counters, short-lived values and wake-ups between nodes. Losing it costs time, never data:
 * nothing here is the truth. What says nothing else fails with GatewayError `coordination_unavailable` while
 * the nodes cannot reach one another; the call may then have taken effect or not.
 */
export interface Coordination extends AsyncDisposable {
  /** Null when another holds it. Re-acquiring with the same token extends it. */
  acquire(
    name: string,
    options: { readonly ttlMs: number; readonly token?: string },
  ): Promise<Lease | null>;
  /** No effect unless the token still holds it. Never fails: a lease that cannot be given back ends by itself. */
  release(lease: Lease): Promise<void>;
  /**
   * Adds to a counter of a fixed window, begun by its first count, and returns its value and the milliseconds
   * until it resets; at once where no other node has to be asked. Never fails: while the nodes cannot reach one
   * another, each counts for itself.
   */
  count(
    name: string,
    options: { readonly windowMs: number; readonly by?: number },
  ): Counted | Promise<Counted>;
  set(key: string, value: string, options: { readonly ttlMs: number }): Promise<void>;
  get(key: string): Promise<string | null>;
  delete(key: string): Promise<void>;
  /** At most once, to the current subscribers; in order to each of them. */
  publish(channel: string, message: string): Promise<void>;
  /** Hears what is published from now on, with holes where the nodes cannot reach one another; that fails nobody. */
  subscribe(channel: string, listener: (message: string) => void): Promise<AsyncDisposable>;
}
