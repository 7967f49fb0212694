import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '#kernel/time.ts';
import { startAlertMonitor, type AlertMonitor } from '#modules/extensions/alerts/monitor.ts';
import { codeOf } from '#test/support/worlds/api.ts';
import { until } from '#test/support/worlds/runs.ts';
import { openWebhookApi, type WebhookApi } from '#test/support/worlds/webhook-api.ts';

let world: WebhookApi;
let monitor: AlertMonitor;
beforeAll(async () => {
  world = await openWebhookApi();
  monitor = startAlertMonitor(world.api.services, () =>
    Promise.resolve({ count: 0, subjects: [] }),
  );
});
afterAll(async () => {
  await monitor[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

interface Endpoint {
  readonly id: string;
  readonly enabled: boolean;
  readonly failing_since: string | null;
  readonly failures: number;
  readonly disabled_at: string | null;
  readonly disable_after_days: number | null;
}

async function shown(id: string): Promise<Endpoint> {
  const listed = await world.api.call('GET', '/webhook-endpoints');
  return (listed.at('data') as Endpoint[]).find((one) => one.id === id)!;
}

/** Sends a test that fails, and waits until its failures are noted. */
async function failed(id: string): Promise<void> {
  const { failures } = await shown(id);
  await world.tested(id);
  await until(async () => {
    const after = await shown(id);
    return after.failures > failures || !after.enabled;
  });
}

/** Fails every six hours for the time. */
async function failedFor(id: string, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 6 * hourMs) {
    world.clock.forward(6 * hourMs);
    await failed(id);
  }
}

const noticesAt = (path: string) =>
  world.receiver.received
    .filter((one) => one.path === path)
    .map(({ body }) => JSON.parse(body) as Record<string, unknown>);

describe('an endpoint whose webhooks all fail', () => {
  it('is disabled after its days, with a notice, and is enabled by hand', async () => {
    const broken = { now: true };
    world.receiver.answer = ({ path }) => (path === '/broken' && broken.now ? 500 : 200);
    const alerts = { alerts: ['webhook_endpoints_disabled'] };
    const destination = { type: 'webhook', target: `${world.receiver.url}/notices`, ...alerts };
    const made = await world.api.call('POST', '/alert-destinations', { body: destination });
    expect(codeOf(made)).toBe('201 ');
    const id = await world.endpoint('/broken', { display_name: 'Billing', disable_after_days: 2 });
    const since = world.clock.now();
    await failed(id);
    await failedFor(id, dayMs);
    const failing = await shown(id);
    expect(failing).toMatchObject({ enabled: true, disabled_at: null, disable_after_days: 2 });
    expect(Math.abs(Date.parse(failing.failing_since ?? '') - since)).toBeLessThan(hourMs);
    await monitor.look();
    expect(noticesAt('/notices')).toEqual([]);
    await failedFor(id, dayMs);
    const disabled = await shown(id);
    expect(disabled).toMatchObject({ enabled: false, failing_since: failing.failing_since });
    expect(Date.parse(disabled.disabled_at ?? '')).toBeGreaterThanOrEqual(since + 2 * dayMs);
    await world.tested(id);
    await world.settled(id, 'cancelled');
    await monitor.look();
    expect(noticesAt('/notices')).toMatchObject([
      {
        alert: 'webhook_endpoints_disabled',
        state: 'firing',
        summary: 'dev: 1 webhook endpoint is disabled by failures.',
        subjects: [`Billing (${id})`],
      },
    ]);
    broken.now = false;
    const enabled = await world.changed(id, { enabled: true });
    expect(enabled).toMatchObject({ failing_since: null, failures: 0, disabled_at: null });
    await monitor.look();
    expect(noticesAt('/notices')).toMatchObject([{}, { state: 'recovered' }]);
    await world.tested(id);
    await world.settled(id, 'delivered');
    await world.removed(id);
  });

  it('is not disabled after one success', async () => {
    world.receiver.answer = ({ path }, count) =>
      path === '/flaky' && count % 10 !== 0 ? 500 : 200;
    const id = await world.endpoint('/flaky', { disable_after_days: 1, retry_waits_seconds: [] });
    for (let hour = 0; hour < 60; hour += 6) {
      await world.tested(id);
      await until(async () => {
        const { failures, failing_since: since } = await shown(id);
        return hour === 54 ? since === null : failures > hour / 6;
      });
      world.clock.forward(2 * hourMs);
    }
    expect(await shown(id)).toMatchObject({ enabled: true, failures: 0 });
    await world.removed(id);
  });

  it('by choice never is, nor after the clock jumped once', async () => {
    world.receiver.answer = () => 500;
    const never = await world.endpoint('/never', { disable_after_days: null });
    await failed(never);
    await failedFor(never, 7 * dayMs);
    expect(await shown(never)).toMatchObject({ enabled: true, disable_after_days: null });
    const id = await world.endpoint('/jumped');
    await failed(id);
    await failedFor(id, dayMs);
    world.clock.forward(400 * dayMs);
    await failed(id);
    expect(await shown(id)).toMatchObject({ enabled: true, disable_after_days: 5 });
    world.receiver.answer = () => 200;
    await world.removed(never);
    await world.removed(id);
  });

  it.each([0, 31, 1.5, '5'])('refuses %j days', async (disable_after_days) => {
    const body = { url: `${world.receiver.url}/x`, disable_after_days };
    const refused = await world.api.call('POST', '/webhook-endpoints', { body });
    expect(codeOf(refused)).toBe('400 invalid_body');
    expect(refused.at('error.errors.0.path')).toEqual(['disable_after_days']);
  });
});
