import { expect, it } from 'vitest';
import { dayMs } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import { until } from '#test/support/worlds/runs.ts';
import { openWebhookWorld, type WebhookWorld } from '#test/support/worlds/webhook-world.ts';

async function failingWorld(): Promise<WebhookWorld> {
  const hooks = await openWebhookWorld();
  hooks.receiver.answer = (_, count) => (count === 1 ? 503 : 200);
  await hooks.setUrls(hooks.receiver.url);
  const { node, environment } = hooks.world;
  // Longer than a delivery waits in memory.
  const changes = { webhookRetryWaitsMs: [3_600_000] };
  const patch = { type: 'Patch', changes } as const;
  await node.control.execute(environmentRef(environment.uid), patch, { actor: 'system' });
  return hooks;
}

it('tries a webhook again when the clock was a day ahead at its first attempt', async () => {
  await using hooks = await failingWorld();
  hooks.moveClock(dayMs);
  await using _ = await hooks.startDeliveries();
  await hooks.send('m1');
  await until(async () => (await hooks.actionsOf()).includes('attempt_failed'));
  await until(() => hooks.hasTakenAll('svc.webhook-deliveries'));
  hooks.moveClock(-dayMs);
  await hooks.receiver.got(2);
});

it('waits for the next attempt as long as the clock says', async () => {
  await using hooks = await failingWorld();
  await using _ = await hooks.startDeliveries();
  await hooks.send('m1');
  await until(() => hooks.hasTakenAll('svc.webhook-deliveries'));
  hooks.moveClock(3_500_000);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(hooks.receiver.received).toHaveLength(1);
  hooks.moveClock(300_000);
  await hooks.receiver.got(2);
});
