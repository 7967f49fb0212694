import { GatewayError } from '#kernel/errors.ts';
import type { Peer } from '../../threads/rpc.ts';
import type { Ends } from './protocol.ts';

/** Rings when a partition may have grown, or the signal has aborted. */
export interface Bell extends Disposable {
  /** Clears the bell; check for work after this. */
  reset(): void;
  /** @throws GatewayError `log_unavailable` when the log has ended. */
  rung(): Promise<void>;
}

/** Tracks the ends of the partitions that this client follows, as the log thread reports them. */
export class Watcher {
  readonly #peer: Peer;
  readonly #ends = new Map<number, number>();
  readonly #listeners = new Set<() => void>();
  #ended = false;

  constructor(peer: Peer) {
    this.#peer = peer;
    peer.on('grew', (ends: Ends) => this.#grew(ends));
  }

  /** Resolves with the ends, kept up to date from now on. */
  async watch(partitionIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const unknown = partitionIds.filter((id) => !this.#ends.has(id));
    if (unknown.length > 0) this.#grew(await this.#peer.call<Ends>('watch', [unknown]));
    return this.#ends;
  }

  bell(signal: AbortSignal): Bell {
    let next = Promise.withResolvers<undefined>();
    const ring = (): void => next.resolve(undefined);
    this.#listeners.add(ring);
    signal.addEventListener('abort', ring);
    return {
      reset: () => {
        next = Promise.withResolvers();
      },
      rung: async () => {
        if (!this.#ended && !signal.aborted) await next.promise;
        if (this.#ended && !signal.aborted) {
          throw new GatewayError('log_unavailable', { message: 'The event log was closed.' });
        }
      },
      [Symbol.dispose]: () => {
        this.#listeners.delete(ring);
        signal.removeEventListener('abort', ring);
      },
    };
  }

  /** Ends every wait. */
  end(): void {
    this.#ended = true;
    this.#ring();
  }

  #grew(ends: Ends): void {
    for (const [id, end] of ends) this.#ends.set(id, Math.max(end, this.#ends.get(id) ?? 0));
    this.#ring();
  }

  #ring(): void {
    for (const listener of this.#listeners) listener();
  }
}
