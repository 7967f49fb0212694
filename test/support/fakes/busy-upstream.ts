import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** What came at one path. */
export class PathUse {
  /** Bodies of its requests, in order. */
  readonly bodies: unknown[] = [];
  /** Requests at the same time: now, and at most. */
  now = 0;
  most = 0;
  /** Requests whose sender was gone before the response. */
  broken = 0;
}

/** A provider that takes its time, and notes how many requests it had at the same time at each path. */
export class BusyUpstream implements AsyncDisposable {
  /** How long a response takes. */
  delayMs = 50;
  #released: Promise<unknown> = Promise.resolve();
  readonly #uses = new Map<string, PathUse>();
  readonly #server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void this.#respond(request, response);
  });

  at(path: string): PathUse {
    let use = this.#uses.get(path);
    if (use === undefined) {
      use = new PathUse();
      this.#uses.set(path, use);
    }
    return use;
  }

  /** No request is answered until what this returns is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#released = promise;
    return () => resolve(undefined);
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

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const use = this.at(request.url ?? '/');
    use.now += 1;
    use.most = Math.max(use.most, use.now);
    let hasResponded = false;
    response.once('close', () => {
      use.now -= 1;
      if (!hasResponded) use.broken += 1;
    });
    const text = Buffer.concat((await request.toArray()) as Buffer[]).toString();
    use.bodies.push(text === '' ? null : JSON.parse(text));
    await Promise.all([wait(this.delayMs), this.#released]);
    if (response.destroyed) return;
    hasResponded = true;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{}');
  }
}
