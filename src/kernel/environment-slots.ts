import { GatewayError } from './errors.ts';

export interface EnvironmentSlotsOptions {
  /** Of one process. */
  readonly total: number;
  /** Of them, how many one environment may have, so that others find one. */
  readonly perEnvironment: number;
  readonly code: 'too_many_request' | 'execution_environment_unavailable';
  /** What an environment has too many of, in the plural. */
  readonly noun: string;
}

const retryAfterS = 5;

/** Counts what is open or under way in this process, by environment. */
export class EnvironmentSlots {
  readonly #options: EnvironmentSlotsOptions;
  readonly #byEnvironment = new Map<string, number>();
  #total = 0;

  constructor(options: EnvironmentSlotsOptions) {
    this.#options = options;
  }

  /**
   * Takes a slot until it is disposed of.
   * @throws GatewayError with the code of the options
   */
  take(environmentUid: string): Disposable {
    const { total, perEnvironment, code, noun } = this.#options;
    const own = this.#byEnvironment.get(environmentUid) ?? 0;
    if (own >= perEnvironment) {
      const message = `The environment has ${own} ${noun} in this process, which is its limit.`;
      throw new GatewayError(code, { message, retryAfterS });
    }
    if (this.#total >= total) throw new GatewayError(code, { retryAfterS });
    this.#total += 1;
    this.#byEnvironment.set(environmentUid, own + 1);
    return { [Symbol.dispose]: () => this.#leave(environmentUid) };
  }

  #leave(environmentUid: string): void {
    this.#total -= 1;
    const left = (this.#byEnvironment.get(environmentUid) ?? 1) - 1;
    if (left === 0) this.#byEnvironment.delete(environmentUid);
    else this.#byEnvironment.set(environmentUid, left);
  }
}
