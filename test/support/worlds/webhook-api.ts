import { expect } from 'vitest';
import { openOperatorRequests } from '#modules/operations/consumer-groups/handlers.ts';
import { startAuthWebhooks } from '#modules/webhooks/webhooks-out/auth-webhooks.ts';
import { startWebhookDeliveries } from '#modules/webhooks/webhooks-out/webhook-delivery.ts';
import { movedClock, type MovedClock } from '../fakes/clock.ts';
import { openWebhookReceiver, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { codeOf, startApi, type Api } from './api.ts';
import { until } from './runs.ts';

/** A delivery as the API lists it. */
export interface ListedDelivery {
  readonly id: string;
  readonly endpoint_id: string;
  readonly connection_id: string | null;
  readonly state: string;
  readonly error_code: string | null;
  readonly fix: string | null;
  readonly attempts: number;
  readonly replay_of: string | null;
}

/** An API with the reactors of webhooks to the application, and an application that receives them. */
export interface WebhookApi extends AsyncDisposable {
  readonly api: Api;
  readonly receiver: WebhookReceiver;
  /** Moves on when a retry is waited for. */
  readonly clock: MovedClock;
  /** Resolves with the id of an endpoint at the path of the receiver. */
  endpoint(path: string, more?: object): Promise<string>;
  removed(id: string): Promise<void>;
  changed(id: string, changes: object): Promise<Readonly<Record<string, unknown>>>;
  /** Creates a connection, of which the application gets an auth webhook. */
  connect(): Promise<string>;
  /** Number of connections so far: the next one is `c` and the following number. */
  connections(): number;
  /** Sends a test webhook. */
  tested(id: string): Promise<string>;
  messages(query?: Readonly<Record<string, string>>): Promise<ListedDelivery[]>;
  /** Waits until the endpoint has so many in the state. */
  settled(endpointId: string, state: string, count?: number): Promise<ListedDelivery[]>;
}

/** @param hosts that it may call besides the receiver: `host:port` */
export async function openWebhookApi(hosts: readonly string[] = []): Promise<WebhookApi> {
  const clock = movedClock();
  await using stack = new AsyncDisposableStack();
  const receiver = stack.use(await openWebhookReceiver());
  const egressAllow = [new URL(receiver.url).host, ...hosts];
  const api = stack.use(await startApi({ clock, egressAllow }));
  const parts = { ...api.services, clock };
  stack.use(
    await startAuthWebhooks({
      ...parts,
      operatorRequests: openOperatorRequests(parts, 'svc.auth-webhooks'),
    }),
  );
  const operatorRequests = openOperatorRequests(parts, 'svc.webhook-deliveries');
  const sleep = async (ms: number): Promise<void> => clock.forward(ms);
  stack.use(
    await startWebhookDeliveries({ ...parts, operatorRequests, userAgent: 'svc/1', sleep }),
  );
  await api.call('POST', '/integrations', { body: { provider: 'open-meteo', unique_key: 'open' } });
  const opened = stack.move();
  let connections = 0;

  const messages = async (query: Readonly<Record<string, string>> = {}) => {
    const search = new URLSearchParams(query).toString();
    const listed = await api.call('GET', `/webhook-messages?${search}`);
    expect(codeOf(listed)).toBe('200 ');
    return listed.at('data') as ListedDelivery[];
  };

  return {
    api,
    receiver,
    clock,
    async endpoint(path, more = {}) {
      const body = { url: `${receiver.url}${path}`, ...more };
      const made = await api.call('POST', '/webhook-endpoints', { body });
      expect(codeOf(made)).toBe('201 ');
      return made.at('data.id') as string;
    },
    async removed(id) {
      expect(codeOf(await api.call('DELETE', `/webhook-endpoints/${id}`))).toBe('200 ');
    },
    async changed(id, body) {
      const changed = await api.call('PATCH', `/webhook-endpoints/${id}`, { body });
      expect(codeOf(changed)).toBe('200 ');
      return changed.at('data') as Readonly<Record<string, unknown>>;
    },
    async connect() {
      const id = `c${++connections}`;
      const made = await api.call('POST', '/connections', {
        body: { provider_config_key: 'open', connection_id: id, credentials: { type: 'NONE' } },
      });
      expect(codeOf(made)).toBe('201 ');
      return id;
    },
    connections: () => connections,
    async tested(id) {
      const sent = await api.call('POST', `/webhook-endpoints/${id}/test`);
      expect(codeOf(sent)).toBe('202 ');
      return sent.at('data.message_ids.0') as string;
    },
    messages,
    async settled(endpoint_id, state, count = 1) {
      await until(async () => (await messages({ endpoint_id, state })).length >= count);
      return messages({ endpoint_id, state });
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
