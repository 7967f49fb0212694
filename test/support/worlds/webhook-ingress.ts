import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openOperatorRequests } from '#modules/operations/consumer-groups/handlers.ts';
import { startWebhookDeliveries } from '#modules/webhooks/webhooks-out/webhook-delivery.ts';
import { movedClock, type MovedClock } from '../fakes/clock.ts';
import {
  openFakeWebhookProvider,
  webhookProviders,
  type FakeWebhookProvider,
  type Sent,
} from '../fakes/fake-webhook-provider.ts';
import { openWebhookReceiver, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { checkedFetch } from '../judges/answers.ts';
import { codeOf, startApi, type Api } from './api.ts';

/** A webhook of a provider, as the list shows it. */
export interface Shown {
  readonly id: string;
  readonly disposition: string;
  readonly reason: string | null;
  readonly connection_ids: readonly string[];
}

const client = { type: 'OAUTH2', client_id: 'c', client_secret: 's' };
const credentialsOf: Readonly<Record<string, object>> = {
  slack: { ...client, webhook_secret: 'of-slack' },
  'microsoft-teams': client,
};

/** An API that takes webhooks of providers and forwards them to an application. */
export interface WebhookIngress extends AsyncDisposable {
  readonly api: Api;
  readonly clock: MovedClock;
  readonly provider: FakeWebhookProvider;
  readonly receiver: WebhookReceiver;
  readonly environmentUid: string;
  addressOf(integration: string, query?: string): string;
  /** Makes a connection with an API key. */
  connect(integration: string, connectionId: string): Promise<void>;
  /** Merges into the metadata of a connection. */
  keep(integration: string, connectionId: string, metadata: object): Promise<void>;
  listed(query?: string): Promise<Shown[]>;
  /** The bodies that the application has received. */
  forwarded(): object[];
}

/** @param providers one integration of each, under its name */
export async function openWebhookIngress(providers: readonly string[]): Promise<WebhookIngress> {
  await using stack = new AsyncDisposableStack();
  const clock = movedClock();
  const receiver = stack.use(await openWebhookReceiver());
  const provider = stack.use(await openFakeWebhookProvider(() => clock.now()));
  const folder = await mkdtemp(join(tmpdir(), 'svc-providers-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const overlayPath = join(folder, 'providers.json');
  await writeFile(overlayPath, JSON.stringify(webhookProviders(provider.url)));
  const egressAllow = [new URL(receiver.url).host, provider.host];
  const webhookRateLimit = 'enforce';
  const api = stack.use(await startApi({ clock, overlayPath, egressAllow, webhookRateLimit }));
  const parts = { ...api.services, clock };
  const operatorRequests = openOperatorRequests(parts, 'svc.webhook-deliveries');
  stack.use(await startWebhookDeliveries({ ...parts, operatorRequests, userAgent: 'svc/1' }));
  const send = async (expected: string, method: string, path: string, body: object) =>
    expect(codeOf(await api.call(method, path, { body }))).toBe(expected);
  for (const key of providers) {
    const credentials = credentialsOf[key];
    const given = credentials === undefined ? {} : { credentials };
    await send('200 ', 'POST', '/integrations', { provider: key, unique_key: key, ...given });
  }
  const application = { url: `${receiver.url}/app`, kinds: ['forward'] };
  await send('201 ', 'POST', '/webhook-endpoints', application);
  const shown = await api.call('GET', `/integrations/${providers[0]}?include=webhook`);
  const environmentUid = /webhook\/([^/]+)\//.exec(String(shown.at('data.webhook_url')))?.[1] ?? '';
  const opened = stack.move();
  return {
    api,
    clock,
    provider,
    receiver,
    environmentUid,
    addressOf: (integration, query = '') =>
      `${api.url}/webhook/${environmentUid}/${integration}${query}`,
    async connect(provider_config_key, connection_id) {
      const credentials = { type: 'API_KEY', apiKey: 'k' };
      const body = { provider_config_key, connection_id, credentials };
      await send('201 ', 'POST', '/connections', body);
    },
    async keep(provider_config_key, connection_id, metadata) {
      const body = { provider_config_key, connection_id, metadata };
      await send('200 ', 'PATCH', '/connections/metadata', body);
    },
    async listed(query = '') {
      const answer = await api.call('GET', `/webhook-deliveries${query}`);
      expect(codeOf(answer)).toBe('200 ');
      return answer.at('data') as Shown[];
    },
    forwarded: () => receiver.received.map(({ body }) => JSON.parse(body) as object),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Sends it as the provider does; resolves with the status, and of a refusal its code. */
export async function deliver(sent: Sent | null): Promise<string> {
  if (sent === null) throw new Error('the provider sends nothing');
  const { url, headers, body } = sent;
  const response = await checkedFetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  const code = (JSON.parse(text || '{}') as { error?: { code: string } }).error?.code ?? '';
  return `${response.status} ${code}`;
}
