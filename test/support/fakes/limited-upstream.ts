import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider with a limit of requests, which notes when each came. */
export class LimitedUpstream implements AsyncDisposable {
  /** Milliseconds of `performance.now`, in order. */
  readonly arrivals: number[] = [];
  readonly #server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    this.arrivals.push(performance.now());
    const { status, headers = {} } = this.answers.shift() ?? { status: 200 };
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ path: request.url }));
  });
  /** What the next requests get in place of 200. */
  readonly answers: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
  }[] = [];

  /** The most requests that came within any span. */
  busiest(spanMs: number): number {
    let from = 0;
    return this.arrivals.reduce((most, at, index) => {
      while (at - (this.arrivals[from] ?? at) >= spanMs) from += 1;
      return Math.max(most, index - from + 1);
    }, 0);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
