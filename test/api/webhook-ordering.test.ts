import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hourMs } from '#kernel/time.ts';
import { environmentEntity } from '#modules/access/environments/entity.ts';
import { deliveriesOf } from '#modules/webhooks/webhooks-out/outbox.ts';
import { until } from '#test/support/worlds/runs.ts';
import { openWebhookApi, type WebhookApi } from '#test/support/worlds/webhook-api.ts';

let world: WebhookApi;
beforeAll(async () => {
  world = await openWebhookApi();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Webhooks of connections: `a`, `b`, … each with its numbers in this order. */
async function published(
  connections: readonly string[],
  numbers: readonly number[],
): Promise<void> {
  const { services } = world.api;
  const all = services.control.view.list(environmentEntity, []);
  const environment = all.find(({ state }) => state.name === 'dev')!.state;
  for (const connectionId of connections) {
    const connection = { integrationKey: 'open', connectionId, webhookUrlOverride: null };
    const payloads = numbers.map((number) => ({
      messageId: crypto.randomUUID(),
      payload: { type: 'sync', from: 'svc', connectionId, number },
    }));
    const subject = { environment, connection, kind: 'sync' } as const;
    await services.publisher.publish(await deliveriesOf(services, subject, payloads), 'system');
  }
}

interface Sent {
  readonly connectionId: string;
  readonly number: number;
}
const sentTo = (path: string, connectionId: string): number[] =>
  world.receiver.received
    .filter((one) => one.path === path)
    .map(({ body }) => JSON.parse(body) as Sent)
    .filter((sent) => sent.connectionId === connectionId)
    .map(({ number }) => number);

const range = (count: number) => Array.from({ length: count }, (_, at) => at);

describe('an ordered endpoint', () => {
  it('gets a webhook of a connection after the one before, and no other connection waits', async () => {
    let isWell = false;
    world.receiver.answer = ({ body }) => {
      const { connectionId, number } = JSON.parse(body) as Sent;
      return connectionId === 'a' && number === 0 && !isWell ? 503 : 200;
    };
    const waits = { retry_waits_seconds: [3600, 3600] };
    const id = await world.endpoint('/ordered', { ordered: true, ...waits });
    await published(['a', 'b', 'c'], range(20));
    await world.settled(id, 'delivered', 40);
    expect(sentTo('/ordered', 'b')).toEqual(range(20));
    expect(sentTo('/ordered', 'c')).toEqual(range(20));
    expect(sentTo('/ordered', 'a')).toEqual([0]);
    isWell = true;
    await until(async () => {
      world.clock.forward(hourMs + hourMs / 20);
      return (await world.messages({ endpoint_id: id, state: 'delivered' })).length === 60;
    });
    expect(sentTo('/ordered', 'a')).toEqual([0, ...range(20)]);
    await world.removed(id);
  });

  it('gets the next one when the one before is given up', async () => {
    world.receiver.answer = ({ body }) => ((JSON.parse(body) as Sent).number === 1 ? 500 : 200);
    const id = await world.endpoint('/given-up', { ordered: true });
    await published(['d'], range(4));
    await world.settled(id, 'delivered', 3);
    expect(sentTo('/given-up', 'd')).toEqual([0, 1, 1, 1, 2, 3]);
    expect(await world.settled(id, 'failed')).toHaveLength(1);
    await world.removed(id);
  });
});
