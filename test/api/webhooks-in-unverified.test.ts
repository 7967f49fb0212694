import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { hourMs } from '#kernel/time.ts';
import { standardWebhook } from '#test/support/fakes/fake-webhook-provider.ts';
import { codeOf } from '#test/support/worlds/api.ts';
import {
  deliver,
  openWebhookIngress,
  type WebhookIngress,
} from '#test/support/worlds/webhook-ingress.ts';

const secret = 'whsec_b2YgYW5u';
let ingress: WebhookIngress;

beforeAll(async () => {
  ingress = await openWebhookIngress(['notes', 'microsoft-teams']);
  await ingress.connect('notes', 'ann');
  await ingress.keep('notes', 'ann', { webhookSecret: secret });
  const body = {
    provider_config_key: 'microsoft-teams',
    connection_id: 'tess',
    credentials: { type: 'OAUTH2', access_token: 'a' },
    connection_config: { tenantId: 'tenant-1' },
  };
  expect(codeOf(await ingress.api.call('POST', '/connections', { body }))).toBe('201 ');
});
afterAll(() => ingress[Symbol.asyncDispose]());

const toAnn = () => ingress.addressOf('notes', '?svcConnectionId=ann');
const genuine = (id: string) =>
  deliver(
    standardWebhook(toAnn(), secret, { type: 'note.edited', note_id: id }, ingress.clock.now()),
  );

/** Signed with a secret that is not ann's. */
const forged = (chars: number) => {
  const event = { type: 'note.edited', filler: 'x'.repeat(chars) };
  return deliver(standardWebhook(toAnn(), 'whsec_b3RoZXI=', event, ingress.clock.now()));
};

const activity = (tenant: string, chars: number) => {
  const body = {
    type: 'message',
    channelData: { tenant: { id: tenant } },
    text: 'x'.repeat(chars),
  };
  const headers = { 'content-type': 'application/json' };
  return deliver({
    url: ingress.addressOf('microsoft-teams'),
    headers,
    body: JSON.stringify(body),
  });
};

/** Sends until one is refused; resolves with how many were answered otherwise. */
async function untilRefused(send: () => Promise<string>): Promise<number> {
  for (let count = 0; ; count += 1) {
    if ((await send()) === '429 too_many_request') return count;
  }
}

/** Puts the clock at the beginning of an hour: what follows falls within one. */
const beginHour = (): void => {
  ingress.clock.forward(hourMs - (ingress.clock.now() % hourMs));
};

describe('unverified webhooks', () => {
  it('is kept up to a limit of the hour, while what is verified passes', async () => {
    beginHour();
    const size = 100_000;
    const kept = await untilRefused(() => forged(size));
    expect(kept).toBe(Math.ceil(limits.webhookUnknownBytesPerHour / (size + 500)));
    expect(await genuine('g1')).toBe('200 ');
    const refused = await ingress.listed('?disposition=refused');
    expect(refused).toMatchObject([{ reason: 'too_many_request', refused_count: 1 }]);
    for (let more = 0; more < 9; more += 1) await forged(10);
    expect(await ingress.listed('?disposition=refused')).toMatchObject([{ refused_count: 10 }]);
    expect(await ingress.listed('?disposition=rejected')).toHaveLength(kept);
    beginHour();
    expect(await forged(10)).toBe('401 webhook_invalid_signature');
    expect(await untilRefused(() => forged(size))).toBeGreaterThan(0);
    expect(await ingress.listed('?disposition=refused')).toHaveLength(2);
  });

  it('costs so much each that a flood of small ones is bounded too', async () => {
    beginHour();
    const { webhookUnknownBytesPerHour: all, webhookUnverifiedBytesMin: least } = limits;
    const flood = await Promise.all(Array.from({ length: all / least + 20 }, () => forged(1)));
    expect(flood.filter((code) => code.startsWith('401'))).toHaveLength(all / least);
    expect(flood.filter((code) => code.startsWith('429'))).toHaveLength(20);
    expect(await genuine('g2')).toBe('200 ');
  });

  it('is answered with the time after which it may come again', async () => {
    const { url, headers, body } = standardWebhook(
      toAnn(),
      'whsec_b3RoZXI=',
      {},
      ingress.clock.now(),
    );
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect(answer.status).toBe(429);
    const waitS = Number(answer.headers.get('retry-after'));
    expect(waitS).toBeGreaterThanOrEqual(1);
    expect(waitS).toBeLessThanOrEqual(hourMs / 1000);
  });

  it('is listed without its body where that is large, and cannot be processed then', async () => {
    beginHour();
    expect(await forged(limits.webhookRejectedBytesMax)).toBe('401 webhook_invalid_signature');
    const [large] = await ingress.listed('?disposition=rejected&limit=1');
    const path = `/webhook-deliveries/${large?.id}`;
    const shown = await ingress.api.call('GET', path);
    expect(codeOf(shown)).toBe('200 ');
    expect(shown.at('data.body')).toBeNull();
    expect(codeOf(await ingress.api.call('POST', `${path}/process`))).toBe('404 not_found');
  });

  it('and names no connection keeps out none that names one', async () => {
    beginHour();
    expect(await activity('tenant-1', 10)).toBe('200 ');
    await untilRefused(() => activity('tenant-of-nobody', 200_000));
    expect(await activity('tenant-1', 10)).toBe('200 ');
    const accepted = await ingress.listed(
      '?disposition=accepted&provider_config_key=microsoft-teams',
    );
    expect(accepted).toHaveLength(2);
  });
});
