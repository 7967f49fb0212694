import { describe, expect, it } from 'vitest';
import type { WebhookOut } from '../../../../src/modules/webhooks-out/events.ts';
import { DeliveryMemory } from '../../../../streams/reactors/delivery-memory.ts';

const step = (action: WebhookOut['action'], more: Partial<WebhookOut> = {}): WebhookOut => ({
  event_id: 'e',
  type: `svc.webhook.${action}`,
  occurred_at: 0,
  actor: 'system',
  environment_id: 'env',
  integration: 'crm',
  connection_id: 'acme',
  run_id: null,
  message_id: 'm',
  endpoint_id: 'primary',
  action,
  event_kind: 'sync',
  body: null,
  attempt: 1,
  status: null,
  latency_ms: null,
  next_attempt_at: null,
  error_code: null,
  replay_of: null,
  address: null,
  ...more,
});

describe('the memory of deliveries', () => {
  it.each(['attempt_succeeded', 'exhausted', 'cancelled'] as const)(
    'knows by %s that one is finished',
    async (action) => {
      const memory = new DeliveryMemory();
      memory.learn(step(action));
      let runs = 0;
      await memory.once(step('created'), async () => void (runs += 1));
      expect(runs).toBe(0);
      await memory.once(
        step('created', { endpoint_id: 'secondary' }),
        async () => void (runs += 1),
      );
      expect(runs).toBe(1);
    },
  );

  it('goes on after the attempts that were made', () => {
    const memory = new DeliveryMemory();
    memory.learn(step('attempt_failed', { attempt: 2, next_attempt_at: 9_000_000 }));
    expect([memory.attemptsOf(step('created')), memory.dueOf(step('created'))]).toEqual([2, 9000]);
  });

  it('knows a failed attempt without a next one as the last', async () => {
    const memory = new DeliveryMemory();
    memory.learn(step('attempt_failed', { attempt: 3 }));
    await memory.once(step('created'), () => Promise.reject(new Error('sent again')));
  });

  it('runs a message that was made twice once, and again when the first was cut off', async () => {
    const memory = new DeliveryMemory();
    let runs = 0;
    const cut = Promise.withResolvers<undefined>();
    const first = memory.once(step('created'), async () => {
      runs += 1;
      await cut.promise;
    });
    const second = memory.once(step('created'), async () => void (runs += 1));
    cut.reject(new Error('cut off'));
    await expect(first).rejects.toThrow('cut off');
    await second;
    expect(runs).toBe(2);
    await memory.once(step('created'), async () => void (runs += 1));
    expect(runs).toBe(2);
  });
});
