import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#test/support/worlds/runs.ts';
import { openWebhookWorld, type WebhookWorld } from '#test/support/worlds/webhook-world.ts';

let hooks: WebhookWorld;

beforeEach(async () => {
  hooks = await openWebhookWorld();
});
afterEach(() => hooks[Symbol.asyncDispose]());

describe('a replay of the deliveries', () => {
  const group = 'svc.webhook-deliveries';

  it('sends what has no outcome, and nothing that has one', async () => {
    await hooks.setUrls(hooks.receiver.url);
    hooks.receiver.answer = () => 200;
    await using _ = await hooks.startDeliveries();
    await hooks.send('a', 'b');
    await hooks.receiver.got(2);
    await until(() => hooks.hasTakenAll(group));
    await hooks.replay(group, false);
    await hooks.send('c');
    await hooks.receiver.got(3);
    expect(
      hooks.receiver.received.map(({ body }) => (JSON.parse(body) as { a: string }).a).sort(),
    ).toEqual(['a', 'b', 'c']);
  });

  it('sends nothing that another process has finished', async () => {
    await hooks.setUrls(hooks.receiver.url);
    const first = await hooks.startDeliveries();
    await hooks.send('a', 'b');
    await hooks.receiver.got(2);
    await until(() => hooks.hasTakenAll(group));
    await first[Symbol.asyncDispose]();
    await using _ = await hooks.startDeliveries();
    await hooks.replay(group, false);
    expect(hooks.receiver.received).toHaveLength(2);
  });

  it('sends everything once more when that is asked for, under the same message ids', async () => {
    await hooks.setUrls(hooks.receiver.url);
    await using _ = await hooks.startDeliveries();
    await hooks.send('a', 'b');
    await hooks.receiver.got(2);
    await until(() => hooks.hasTakenAll(group));
    await hooks.replay(group, true);
    await hooks.receiver.got(4);
    await until(() => hooks.hasTakenAll(group));
    const ids = hooks.receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(ids.sort()).toEqual(['a', 'a', 'b', 'b']);
  });
});

describe('a replay of the ends of runs', () => {
  it('makes no webhook again that is there', async () => {
    await hooks.setUrls(hooks.receiver.url);
    await using _webhooks = await hooks.startWebhooks();
    await hooks.endRun('succeeded');
    await until(() => hooks.hasTakenAll('svc.sync-webhooks'));
    await hooks.replay('svc.sync-webhooks', false);
    expect(await hooks.actionsOf()).toEqual(['created', 'created']);
  });

  it('makes those that are missing', async () => {
    await using _webhooks = await hooks.startWebhooks();
    await hooks.endRun('succeeded');
    await until(() => hooks.hasTakenAll('svc.sync-webhooks'));
    expect(await hooks.actionsOf()).toEqual([]);
    await hooks.setUrls(hooks.receiver.url);
    await hooks.replay('svc.sync-webhooks', false);
    expect(await hooks.actionsOf()).toEqual(['created', 'created']);
  });
});
