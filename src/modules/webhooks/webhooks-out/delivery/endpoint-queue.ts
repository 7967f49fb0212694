import type { Circuit } from './circuits.ts';
import { whenAborted } from './when-aborted.ts';

/** Concurrent attempts to one endpoint: a hanging endpoint occupies only these. */
const runningMax = 50;
/** Limit of deliveries of one endpoint that wait in memory; the others wait in the log. */
const waitingMax = 2_000;
/** The same limit when the process has many in memory. */
const waitingMaxCrowded = 50;
/** Number of deliveries that the backlog prefetches for an endpoint. */
const readyMax = 500;

interface Waiter {
  readonly start: (hasPlace: boolean) => void;
}

/** The deliveries of one endpoint in memory of this process. */
export class EndpointQueue {
  /** The circuit of its URL; null until an attempt has read the URL. */
  #circuit: Circuit | null = null;
  readonly #waiting = new Set<Waiter>();
  #running = 0;
  /** Deliveries that are being read from the log for this queue. */
  #coming = 0;

  get circuit(): Circuit | null {
    return this.#circuit;
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#atHand === 0 && this.#circuit?.isOpen !== true;
  }

  /**
   * Whether a new delivery may wait here.
   * @param isCrowded many deliveries wait in this process
   */
  hasRoom(isCrowded: boolean): boolean {
    const max = isCrowded ? waitingMaxCrowded : waitingMax;
    return !this.#isShut && this.#waiting.size < max;
  }

  /** Whether so few wait here that the backlog should add more. */
  get isLow(): boolean {
    return !this.#isShut && this.#atHand <= readyMax / 2;
  }

  /** How many deliveries the backlog may add. */
  get backlogRoom(): number {
    if (this.#isShut) return this.#canTry ? 1 : 0;
    return Math.max(0, readyMax - this.#atHand);
  }

  get #atHand(): number {
    return this.#waiting.size + this.#coming;
  }

  get #canTry(): boolean {
    return this.#circuit?.mayTry === true && this.#running === 0;
  }

  get #isShut(): boolean {
    return this.#circuit?.isOpen === true;
  }

  /** @param circuit of the current URL of the endpoint; null without a URL */
  sendsTo(circuit: Circuit | null): void {
    if (this.#circuit === circuit) return;
    this.#circuit = circuit;
    this.start();
  }

  /** Reserves a slot for a delivery from the backlog; returns a function that ends the reservation. */
  announce(): () => void {
    this.#coming += 1;
    return () => void (this.#coming -= 1);
  }

  /**
   * Resolves with true when a slot is free, in the order of the calls; with false while the endpoint fails: the
   * delivery waits in the backlog.
   * @throws the signal's reason
   */
  enter(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    if (this.#isShut && !this.#canTry) return Promise.resolve(false);
    if (this.#running < runningMax && this.#waiting.size === 0) {
      this.#running += 1;
      return Promise.resolve(true);
    }
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const gone = (): void => {
      this.#waiting.delete(waiter);
      reject(signal.reason as Error);
    };
    const waiter: Waiter = {
      start: (hasPlace) => {
        stop();
        this.#waiting.delete(waiter);
        if (hasPlace) this.#running += 1;
        resolve(hasPlace);
      },
    };
    const stop = whenAborted(signal, gone);
    this.#waiting.add(waiter);
    return promise;
  }

  /** Releases the slot. */
  leave(): void {
    this.#running -= 1;
    this.start();
  }

  /** Admits waiting deliveries to free slots; while the circuit is open they move to the backlog. */
  start(): void {
    const isShut = this.#isShut;
    for (const waiter of this.#waiting) {
      if (!isShut && this.#running >= runningMax) return;
      waiter.start(!isShut);
    }
  }
}
