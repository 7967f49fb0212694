import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { dayMs, hourMs } from '#kernel/time.ts';
import type { Received } from '#test/support/fakes/webhook-receiver.ts';
import { codeOf, type ApiAnswer } from '#test/support/worlds/api.ts';
import { everythingOn } from '#test/support/worlds/control.ts';
import { openWebhookApi, type WebhookApi } from '#test/support/worlds/webhook-api.ts';

let world: WebhookApi;
beforeAll(async () => {
  world = await openWebhookApi();
});
afterAll(() => world[Symbol.asyncDispose]());

interface Keys {
  readonly webhook_signing_key: string;
  readonly previous_webhook_signing_key: string | null;
  readonly previous_valid_until: string | null;
  readonly managed_by: string;
}

const read = async (id: string): Promise<Keys> => {
  const shown = await world.api.call('GET', `/webhook-endpoints/${id}/signing-key`);
  expect(codeOf(shown)).toBe('200 ');
  expect(shown.headers.get('cache-control')).toBe('no-store');
  return shown.at('data') as Keys;
};

const rotate = (id: string, body: object = {}, headers = {}): Promise<ApiAnswer> =>
  world.api.call('POST', `/webhook-endpoints/${id}/signing-key/rotate`, { body, headers });

async function rotated(id: string, body: object = {}): Promise<Keys> {
  const answered = await rotate(id, body);
  expect(codeOf(answered)).toBe('200 ');
  return answered.at('data') as Keys;
}

/** The next request to the path, for a test webhook. */
async function delivered(id: string, path: string): Promise<Received> {
  const count = world.receiver.received.filter((one) => one.path === path).length;
  await world.tested(id);
  return (await world.receiver.got(count + 1, path))[count]!;
}

/** Whether the library of Standard Webhooks verifies the request with the key, at the time of the attempt. */
function verifies(key: string, { headers, body }: Received): boolean {
  vi.useFakeTimers({ now: Number(headers['webhook-timestamp']) * 1000, toFake: ['Date'] });
  try {
    new Webhook(key).verify(body, headers as Record<string, string>);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  } finally {
    vi.useRealTimers();
  }
}

describe('the signing key of an endpoint', () => {
  it('is that of the environment until it has its own', async () => {
    const id = await world.endpoint('/of-environment');
    const shown = await world.api.call('GET', '/environment/webhook-signing-key');
    expect(await read(id)).toEqual({
      webhook_signing_key: shown.at('data.webhook_signing_key'),
      previous_webhook_signing_key: null,
      previous_valid_until: null,
      managed_by: 'environment',
    });
    await world.removed(id);
  });

  it('signs beside the one of the environment for a day, then alone', async () => {
    const [id, other] = [await world.endpoint('/own-key'), await world.endpoint('/others')];
    const before = await read(id);
    const keys = await rotated(id);
    expect(keys).toMatchObject({
      previous_webhook_signing_key: before.webhook_signing_key,
      managed_by: 'endpoint',
    });
    expect(keys.webhook_signing_key).not.toBe(before.webhook_signing_key);
    const until = Date.parse(keys.previous_valid_until ?? '');
    expect(Math.abs(until - world.clock.now() - dayMs)).toBeLessThan(hourMs);
    const first = await delivered(id, '/own-key');
    expect(String(first.headers['webhook-signature']).split(' ')).toHaveLength(2);
    expect(verifies(keys.webhook_signing_key, first)).toBe(true);
    expect(verifies(before.webhook_signing_key, first)).toBe(true);
    expect(verifies(keys.webhook_signing_key, await delivered(other, '/others'))).toBe(false);
    world.clock.forward(dayMs);
    const second = await delivered(id, '/own-key');
    expect(verifies(keys.webhook_signing_key, second)).toBe(true);
    expect(verifies(before.webhook_signing_key, second)).toBe(false);
    expect(await read(id)).toMatchObject({ previous_webhook_signing_key: null });
    await world.removed(id);
    await world.removed(other);
  });

  it('is replaced with the chosen overlap, and at once with none', async () => {
    const id = await world.endpoint('/overlap');
    const { webhook_signing_key: first } = await rotated(id, { overlap_seconds: 0 });
    const { webhook_signing_key: second } = await rotated(id, { overlap_seconds: 7200 });
    world.clock.forward(hourMs);
    const within = await delivered(id, '/overlap');
    expect([first, second].map((key) => verifies(key, within))).toEqual([true, true]);
    expect(codeOf(await rotate(id))).toBe('409 multiple_webhook_signing_keys');
    const { webhook_signing_key: third } = await rotated(id, { overlap_seconds: 0 });
    const after = await delivered(id, '/overlap');
    expect([first, second, third].map((key) => verifies(key, after))).toEqual([false, false, true]);
    await world.removed(id);
  });

  it('is the same for a repeated request, and stands nowhere in the clear', async () => {
    const id = await world.endpoint('/repeated');
    const once = { 'idempotency-key': 'rotate-once' };
    const [first, again] = [await rotate(id, {}, once), await rotate(id, {}, once)];
    const key = first.at('data.webhook_signing_key') as string;
    expect(again.at('data.webhook_signing_key')).toBe(key);
    const text = Buffer.from(key.slice('whsec_'.length), 'base64').toString();
    const published = await everythingOn(world.api.services.log);
    expect(published).not.toContain(key);
    expect(published).not.toContain(text);
    const listed = await world.api.call('GET', '/webhook-endpoints');
    expect(JSON.stringify(listed.body)).not.toContain(key);
    await world.removed(id);
  });

  it.each([-1, 0.5, 30 * 86_400 + 1, '60', null])('refuses an overlap of %j', async (overlap) => {
    const id = await world.endpoint('/refused');
    const refused = await rotate(id, { overlap_seconds: overlap });
    expect(codeOf(refused)).toBe('400 invalid_body');
    expect(refused.at('error.errors.0.path')).toEqual(['overlap_seconds']);
    await world.removed(id);
  });

  it('is not shown to another environment', async () => {
    const id = await world.endpoint('/of-dev');
    const { prod: key } = world.api.keys;
    const path = `/webhook-endpoints/${id}/signing-key`;
    expect(codeOf(await world.api.call('GET', path, { key }))).toBe('404 not_found');
    const asked = await world.api.call('POST', `${path}/rotate`, { key, body: {} });
    expect(codeOf(asked)).toBe('404 not_found');
    await world.removed(id);
  });
});
