/** A lease held by `token`; it ends by itself. */
export interface Lease {
  readonly name: string;
  readonly token: string;
}

/**
 * Leases, counters, short-lived values and wake-ups between nodes. Losing it costs time, never data:
 * nothing here is the truth.
 */
export interface Coordination extends AsyncDisposable {
  /** Null when another holds it. Re-acquiring with the same token extends it. */
  acquire(
    name: string,
    options: { readonly ttlMs: number; readonly token?: string },
  ): Promise<Lease | null>;
  /** No effect unless the token still holds it. */
  release(lease: Lease): Promise<void>;
  /** Adds to a counter of a fixed window and returns its value and the seconds until it resets. */
  count(
    name: string,
    options: { readonly windowMs: number; readonly by?: number },
  ): Promise<{ value: number; resetMs: number }>;
  set(key: string, value: string, options: { readonly ttlMs: number }): Promise<void>;
  get(key: string): Promise<string | null>;
  delete(key: string): Promise<void>;
  /** At most once, to whoever listens now. */
  publish(channel: string, message: string): Promise<void>;
  subscribe(channel: string, listener: (message: string) => void): Promise<AsyncDisposable>;
}
