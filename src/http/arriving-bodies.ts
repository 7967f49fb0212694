import type { IncomingMessage, ServerResponse } from 'node:http';
import { limits } from '../kernel/limits.ts';

const lookEveryMs = 1_000;

/** A request of whose body not all has come. */
interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Between two pieces of a body that may take as long as it comes; null: it is due as a whole. */
  readonly idleMs: number | null;
  /** From when on its time counts, on the clock of `performance.now`. */
  since: number;
  /** What had come over its connection by then. */
  bytes: number;
}

/**
 * The bodies that are still coming. One timer looks at all of them: Node's own limit is the same for every request, and
 * a timer for each would cost all of them.
 */
export class ArrivingBodies implements Disposable {
  readonly #arrivals = new Set<Arrival>();
  readonly #refuse: (request: IncomingMessage, response: ServerResponse) => void;
  readonly #timer: NodeJS.Timeout;

  /** @param refuse takes a request whose body comes too slowly */
  constructor(refuse: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#refuse = refuse;
    this.#timer = setInterval(() => this.#look(performance.now()), lookEveryMs);
    this.#timer.unref();
  }

  /** @param idleMs of a body that may take as long as it comes, until the request is answered */
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

/** Whether the client is due and has sent nothing: what nobody reads here holds it up. */
function isStill(arrival: Arrival): boolean {
  const { request } = arrival;
  const before = arrival.bytes;
  arrival.bytes = request.socket.bytesRead;
  return arrival.bytes === before && request.readableLength === 0 && !request.isPaused();
}
