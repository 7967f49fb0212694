import type { Circuit } from './circuit.ts';
import { whenAborted } from './when-aborted.ts';

/** Attempts under way at once to one endpoint: a hanging one holds these and no more. */
const runningMax = 50;
/** Deliveries of one endpoint that wait in memory; the others wait in the log. */
const waitingMax = 2_000;
/** The same where the process has many at hand. */
const waitingMaxCrowded = 50;
/** What the backlog keeps ready for an endpoint beyond what is running. */
const readyMax = 500;

interface Waiter {
  readonly start: (hasPlace: boolean) => void;
}

/** The deliveries of one endpoint that this process has at hand. */
export class EndpointQueue {
  /** That of the URL it sends to; null until an attempt has shown the URL. */
  #circuit: Circuit | null = null;
  readonly #waiting = new Set<Waiter>();
  #running = 0;
  /** Those that are being read of the log, and will wait here. */
  #coming = 0;

  get circuit(): Circuit | null {
    return this.#circuit;
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#atHand === 0 && this.#circuit?.isOpen !== true;
  }

  /** Whether a delivery that has just been asked for may wait here. @param isCrowded many wait in this process */
  hasRoom(isCrowded: boolean): boolean {
    const max = isCrowded ? waitingMaxCrowded : waitingMax;
    return !this.#isShut && this.#waiting.size < max;
  }

  /** So few wait here that more should come from the backlog. */
  get isLow(): boolean {
    return !this.#isShut && this.#atHand <= readyMax / 2;
  }

  /** How many deliveries may come from the backlog. */
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

  /** @param circuit that of the URL which the endpoint has now; null: it has none */
  sendsTo(circuit: Circuit | null): void {
    if (this.#circuit === circuit) return;
    this.#circuit = circuit;
    this.start();
  }

  /** One will come from the backlog; what is returned is called when it is here, or will not come. */
  announce(): () => void {
    this.#coming += 1;
    return () => void (this.#coming -= 1);
  }

  /**
   * Resolves with true when there is a place, in the order of the calls; with false while the endpoint fails:
   * the delivery waits elsewhere. @throws the signal's reason
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

  /** Gives the place back. */
  leave(): void {
    this.#running -= 1;
    this.start();
  }

  /** Lets in what finds a place now; while the circuit is open what waits is sent elsewhere. */
  start(): void {
    const isShut = this.#isShut;
    for (const waiter of this.#waiting) {
      if (!isShut && this.#running >= runningMax) return;
      waiter.start(!isShut);
    }
  }
}
