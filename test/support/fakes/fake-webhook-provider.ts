import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { weekMs } from '#kernel/time.ts';

interface Registered {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  expiresAt: number;
}

/** A webhook as the provider sends it, ready for `fetch`. */
export interface Sent {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * Two APIs: notes, whose endpoints are signed by Standard Webhooks, and tables, whose notifications carry a MAC and end
 * after a week. Each secret is returned once, in the response to the registration.
 */
export interface FakeWebhookProvider extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  /** What the provider sends for an endpoint of notes; null when there is none. */
  noteEvent(endpointId: string, type: string, noteId: string): Sent | null;
  /** What it sends for a webhook of a base; null when there is none, or when it has expired. */
  tableEvent(webhookId: string): Sent | null;
}

export async function openFakeWebhookProvider(now: () => number): Promise<FakeWebhookProvider> {
  const endpoints = new Map<string, Registered>();
  const webhooks = new Map<string, Registered & { readonly base: string }>();

  const answer = (method: string, path: string, body: Record<string, string>): [number, object] => {
    const [, version, ...rest] = path.split('/');
    if (version === 'v1' && rest[0] === 'webhook-endpoints') return notes(method, rest[1], body);
    const [bases, base = '', what, id, refresh] = rest;
    if (version !== 'v0' || bases !== 'bases' || what !== 'webhooks') return [404, {}];
    if (method === 'POST' && refresh === 'refresh') return refreshed(id ?? '');
    return method === 'POST' ? table(base, body) : [404, {}];
  };
  const notes = (
    method: string,
    id: string | undefined,
    body: Record<string, string>,
  ): [number, object] => {
    if (method === 'DELETE') return endpoints.delete(id ?? '') ? [200, {}] : [404, {}];
    if (method !== 'POST')
      return [200, { endpoints: [...endpoints.keys()].map((of) => ({ id: of })) }];
    const secret = `whsec_${randomBytes(24).toString('base64')}`;
    const made = { id: randomUUID(), url: body['url'] ?? '', secret, expiresAt: Infinity };
    endpoints.set(made.id, made);
    return [201, { id: made.id, signing_secret: secret }];
  };
  const table = (base: string, body: Record<string, string>): [number, object] => {
    const secret = randomBytes(32).toString('base64');
    const id = `ach${randomBytes(7).toString('hex')}`;
    const url = body['notificationUrl'] ?? '';
    webhooks.set(id, { id, base, url, secret, expiresAt: now() + weekMs });
    return [200, { id, macSecretBase64: secret, expirationTime: new Date(now() + weekMs) }];
  };
  const refreshed = (id: string): [number, object] => {
    const known = webhooks.get(id);
    if (known === undefined) return [404, {}];
    known.expiresAt = now() + weekMs;
    return [200, { expirationTime: new Date(known.expiresAt) }];
  };

  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const text = Buffer.concat(chunks as Buffer[]).toString();
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, string>;
      const [status, said] = answer(request.method ?? 'GET', request.url ?? '/', body);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(said));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    noteEvent(endpointId, type, noteId) {
      const to = endpoints.get(endpointId);
      if (to === undefined) return null;
      return standardWebhook(to.url, to.secret, { type, note_id: noteId }, now());
    },
    tableEvent(webhookId) {
      const to = webhooks.get(webhookId);
      if (to === undefined || to.expiresAt <= now()) return null;
      const { id, base, url, secret } = to;
      const notice = { base: { id: base }, webhook: { id }, timestamp: new Date(now()) };
      const body = JSON.stringify(notice);
      const mac = createHmac('sha256', Buffer.from(secret, 'base64')).update(body).digest('hex');
      const headers = { 'x-provider-content-mac': `hmac-sha256=${mac}` };
      return { url, headers: { ...json, ...headers }, body };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const json = { 'content-type': 'application/json' };

/** Signed as https://www.standardwebhooks.com says. */
export function standardWebhook(
  url: string,
  secret: string,
  event: object,
  at: number,
  id = `msg_${randomUUID()}`,
): Sent {
  const body = JSON.stringify(event);
  const seconds = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${'A'.repeat(43)}= v1,${mac}`,
  };
  return { url, headers: { ...json, ...headers }, body };
}

/** Definitions of the two at the address; of one whose webhooks carry a token, and of one without rules. */
export const webhookProviders = (url: string): object => ({
  notes: {
    display_name: 'Notes',
    categories: [],
    auth_mode: 'API_KEY',
    docs: 'https://docs.example',
    credentials: { apiKey: { type: 'string', title: 'Key', description: 'A key.', secret: true } },
    webhook_routing_script: 'notesWebhookRouting',
    webhook_routing: {
      signatures: [{ scheme: 'standard-webhooks', keys: [{ metadata: ['webhookSecret'] }] }],
      connection: {
        property: 'connectionId',
        identifier: [{ query: 'svcConnectionId' }],
        is_required: true,
      },
      type: [{ body: 'type' }],
      delivery_id: [{ header: 'webhook-id' }],
    },
    proxy: { base_url: url },
  },
  tables: {
    display_name: 'Tables',
    categories: [],
    auth_mode: 'API_KEY',
    docs: 'https://docs.example',
    credentials: { apiKey: { type: 'string', title: 'Key', description: 'A key.', secret: true } },
    webhook_routing_script: 'tablesWebhookRouting',
    webhook_routing: {
      signatures: [
        {
          scheme: 'hmac',
          header: 'x-provider-content-mac',
          prefix: 'hmac-sha256=',
          keys: [{ metadata: ['webhooks', '$identifier', 'macSecretBase64'] }],
          key_encoding: 'base64',
        },
      ],
      connection: {
        property: 'metadata.webhooks',
        identifier: [{ body: 'webhook.id' }],
        is_required: true,
      },
    },
    proxy: { base_url: url },
  },
  tokens: {
    display_name: 'Tokens',
    categories: [],
    auth_mode: 'API_KEY',
    docs: 'https://docs.example',
    credentials: { apiKey: { type: 'string', title: 'Key', description: 'A key.', secret: true } },
    webhook_routing_script: 'tokensWebhookRouting',
    webhook_routing: {
      signatures: [{ scheme: 'token', header: 'x-token', keys: [{ metadata: ['webhookSecret'] }] }],
      connection: {
        property: 'connectionId',
        identifier: [{ query: 'svcConnectionId' }],
        is_required: true,
      },
    },
  },
  scripted: {
    display_name: 'Scripted',
    categories: [],
    auth_mode: 'NONE',
    docs: 'https://docs.example',
    webhook_routing_script: 'nobodyKnowsIt',
  },
});
