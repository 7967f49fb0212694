import { isIP, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { Destination } from '#ports/http-client.ts';
import { Connection } from './connection.ts';

/** Free connections kept per origin; others are closed. */
const keptMax = 256;
const expireEveryMs = 1_000;

/** Connections by origin. Their number equals the number of concurrent exchanges. */
export class ConnectionPool implements Disposable {
  readonly #connect: buildConnector.connector;
  /** The most recently used one is last. */
  readonly #free = new Map<string, Connection[]>();
  readonly #all = new Set<Connection>();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor(connect: buildConnector.connector) {
    this.#connect = connect;
    this.#timer = setInterval(() => this.#expire(), expireEveryMs);
    this.#timer.unref();
  }

  /** A free connection, or null. */
  take({ origin }: Destination): Connection | null {
    const free = this.#free.get(origin);
    const now = performance.now();
    for (let last = free?.pop(); last !== undefined; last = free?.pop()) {
      if (last.isFree(now)) return last;
    }
    return null;
  }

  /** @throws as the connector: refused by the egress policy, connection timeout, … */
  async open(url: Destination): Promise<Connection> {
    const socket = await this.#socketTo(url);
    const { origin } = url;
    const connection = new Connection(socket, (changed) => this.#changed(origin, changed));
    this.#all.add(connection);
    if (this.#isClosed) connection.close();
    return connection;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const connection of [...this.#all]) connection.close();
  }

  #socketTo({ protocol, hostname, host, port }: Destination): Promise<Socket> {
    // An IPv6 address has brackets in a URL, and none elsewhere.
    const name = hostname.replace(/^\[(.*)\]$/, '$1');
    const target = { protocol, hostname: name, host, port };
    const named = isIP(name) === 0 ? { ...target, servername: name } : target;
    return new Promise((resolve, reject) => {
      this.#connect(named, (error, socket) => (error === null ? resolve(socket) : reject(error)));
    });
  }

  #changed(origin: string, connection: Connection): void {
    if (connection.isClosed) {
      this.#all.delete(connection);
      return;
    }
    const free = this.#free.get(origin);
    if (free === undefined) this.#free.set(origin, [connection]);
    else if (free.length < keptMax) free.push(connection);
    else connection.close();
  }

  #expire(): void {
    const now = performance.now();
    for (const connection of [...this.#all]) connection.expire(now);
    for (const [origin, free] of this.#free) {
      const left = free.filter((connection) => !connection.isClosed);
      if (left.length === 0) this.#free.delete(origin);
      else this.#free.set(origin, left);
    }
  }
}
