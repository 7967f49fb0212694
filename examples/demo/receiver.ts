import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SyncWebhook {
  readonly type: string;
  readonly success: boolean;
  readonly model: string;
  readonly responseResults: {
    readonly added: number;
    readonly updated: number;
    readonly deleted: number;
  };
  readonly error?: unknown;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  verifyWith(signingKey: string): void;
  /** The next sync webhook. @throws Error when its signature is wrong, or none comes within two minutes. */
  next(): Promise<SyncWebhook>;
}

/** What an application has: an endpoint that checks the signature of each webhook over the bytes it got. */
export async function startReceiver(): Promise<Receiver> {
  let signingKey = '';
  const arrived: Promise<SyncWebhook>[] = [];
  let wake = Promise.withResolvers<undefined>();
  const server = createServer((request, response) => {
    const webhook = receive(request, () => signingKey);
    webhook.then(
      () => response.writeHead(200).end(),
      () => response.writeHead(401).end(),
    );
    arrived.push(webhook);
    wake.resolve(undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    verifyWith: (key) => void (signingKey = key),
    async next() {
      const deadline = setTimeout(() => wake.reject(new Error('no webhook came')), 120_000);
      try {
        for (;;) {
          if (arrived.length === 0) await wake.promise;
          wake = Promise.withResolvers();
          const webhook = await (arrived.shift() as Promise<SyncWebhook>);
          // Other kinds, such as that of the new connection, are left to who wants them.
          if (webhook.type === 'sync') return webhook;
        }
      } finally {
        clearTimeout(deadline);
      }
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function receive(request: IncomingMessage, signingKey: () => string): Promise<SyncWebhook> {
  const body = Buffer.concat(await request.toArray());
  const expected = createHmac('sha256', Buffer.from(signingKey().slice('whsec_'.length), 'base64'))
    .update(body)
    .digest();
  const given = Buffer.from(String(request.headers['x-svc-hmac-sha256'] ?? ''), 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Error('a webhook with a wrong signature arrived');
  }
  return JSON.parse(body.toString()) as SyncWebhook;
}
