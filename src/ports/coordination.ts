/** A lease held by `token`; it expires by itself. */
export interface Lease {
  readonly name: string;
  readonly token: string;
}

/** So many calls within any span of `windowMs`. */
export interface CallBudget {
  readonly calls: number;
  readonly windowMs: number;
}

export interface BudgetUse {
  /** Taken within the last window. */
  readonly calls: number;
  /** Until calls are taken again; 0 unless the budget is paused. */
  readonly pausedMs: number;
}

export interface CounterValue {
  readonly value: number;
  readonly resetMs: number;
}

/**
 * Leases, counters, budgets of calls, short-lived values and wake-ups between nodes. Losing it costs time, never data: none of it is
 * authoritative. Unless documented otherwise, a call fails with GatewayError `coordination_unavailable` while the
 * nodes cannot reach one another; it may then have taken effect or not.
 */
export interface Coordination extends AsyncDisposable {
  /** Null when another token holds it. Re-acquiring with the same token extends it. */
  acquire(
    name: string,
    options: { readonly ttlMs: number; readonly token?: string },
  ): Promise<Lease | null>;
  /** No effect unless the token still holds it. Never fails: a lease that cannot be released expires by itself. */
  release(lease: Lease): Promise<void>;
  /**
   * Adds to a counter of a fixed window that begins with the first count. Returns its value and the milliseconds
   * until it resets, without a network call where none is needed. Never fails: while the nodes cannot reach one
   * another, each counts for itself.
   */
  count(
    name: string,
    options: { readonly windowMs: number; readonly by?: number },
  ): CounterValue | Promise<CounterValue>;
  /**
   * Takes a call of a budget that all nodes share: 0, or after how many milliseconds to ask again. Never fails: while
   * the nodes cannot reach one another, each has the budget for itself.
   */
  takeCall(name: string, budget: CallBudget): number | Promise<number>;
  /** No call of the budget is taken for `ms`, unless it is paused for longer. Never fails, as `takeCall`. */
  pauseCalls(name: string, budget: CallBudget, ms: number): Promise<void>;
  /** Without taking a call. Never fails, as `takeCall`. */
  callsTaken(name: string, budget: CallBudget): Promise<BudgetUse>;
  set(key: string, value: string, options: { readonly ttlMs: number }): Promise<void>;
  get(key: string): Promise<string | null>;
  delete(key: string): Promise<void>;
  /** At most once, to current subscribers, in order for each of them. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Receives what is published from now on. Messages are lost while the nodes cannot reach one another; that is no
   * failure.
   */
  subscribe(channel: string, listener: (message: string) => void): Promise<AsyncDisposable>;
}
