import type { IncomingMessage, ServerResponse } from 'node:http';
import { limits } from '#kernel/limits.ts';

const lookEveryMs = 1_000;

/** A request whose body is incomplete. */
interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Longest pause between two pieces of a streamed body; null: the body is due as a whole. */
  readonly idleMs: number | null;
  /** Start of its time limit, on the clock of `performance.now`. */
  since: number;
  /** Bytes received over its connection by then. */
  bytes: number;
}

/**
 * The bodies that are still arriving. One timer checks all of them: Node's own limit is the same for every request,
 * and a timer for each would be expensive.
 */
export class ArrivingBodies implements Disposable {
  readonly #arrivals = new Set<Arrival>();
  readonly #refuse: (request: IncomingMessage, response: ServerResponse) => void;
  readonly #timer: NodeJS.Timeout;

  /** @param refuse called with a request whose body arrives too slowly */
  constructor(refuse: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#refuse = refuse;
    this.#timer = setInterval(() => this.#look(performance.now()), lookEveryMs);
    this.#timer.unref();
  }

  /** @param idleMs longest pause of a streamed body, until the request is answered */
  add(request: IncomingMessage, response: ServerResponse, idleMs: number | null): void {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    if (coding === undefined && (length === undefined || length === '0')) return;
    const since = performance.now();
    const bytes = request.socket.bytesRead;
    const arrival: Arrival = { request, response, idleMs, since, bytes };
    this.#arrivals.add(arrival);
    request.once('close', () => this.#arrivals.delete(arrival));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(now: number): void {
    for (const arrival of this.#arrivals) {
      const { request, response } = arrival;
      if (request.complete) continue;
      const idleMs = response.writableEnded ? null : arrival.idleMs;
      if (idleMs !== null && !isStill(arrival)) arrival.since = now;
      if (now - arrival.since < (idleMs ?? limits.requestMs)) continue;
      this.#arrivals.delete(arrival);
      this.#refuse(request, response);
    }
  }
}

/** Whether the client stalls: it sends nothing although nothing here applies backpressure. */
function isStill(arrival: Arrival): boolean {
  const { request } = arrival;
  const before = arrival.bytes;
  arrival.bytes = request.socket.bytesRead;
  return arrival.bytes === before && request.readableLength === 0 && !request.isPaused();
}
