/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { openWebhookReceiver, type WebhookReceiver } from '#test/support/fakes/webhook-receiver.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { processClock, type ProcessClock } from '#test/support/processes/days-later.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { until } from '#test/support/worlds/runs.ts';

/** Attempts that fail, each a quarter of a day after the one before. */
const failuresMin = limits.webhookDisableFailuresMin;
/** How many of them come before the next kill. */
const failuresBetweenKills = roundsOf({ push: 4, all: 1 });

let folder: string;
let receiver: WebhookReceiver;
let clock: ProcessClock;
let gateway: RunningGateway;
let id: string;
let isWell = false;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-webhook-disabling-'));
  receiver = await openWebhookReceiver();
  receiver.answer = () => (isWell ? 200 : 500);
  clock = processClock(join(folder, 'days'));
  gateway = await start();
  const body = { url: receiver.url, disable_after_days: 1, retry_waits_seconds: [] };
  const made = await gateway.call('POST', '/webhook-endpoints', { body });
  expect(made.status).toBe(201);
  id = made.body.data.id as string;
});
afterAll(async () => {
  await gateway.stop();
  await receiver[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const start = (): Promise<RunningGateway> =>
  startGateway({
    dataDir: join(folder, 'data'),
    env: { SVC_EGRESS_ALLOW: new URL(receiver.url).host, ...clock.env },
  });

async function kill(): Promise<void> {
  gateway.process.kill('SIGKILL');
  await gateway.exited;
  gateway = await start();
}

const shown = async () => {
  const listed = await gateway.call('GET', '/webhook-endpoints');
  return (listed.body.data as Record<string, unknown>[]).find((one) => one['id'] === id)!;
};

async function send(): Promise<string> {
  const sent = await gateway.call('POST', `/webhook-endpoints/${id}/test`);
  expect(sent.status).toBe(202);
  return sent.body.data.message_ids[0] as string;
}

describe('an endpoint that fails while its process is killed again and again', () => {
  it('is disabled once its days are over, and stays so over the next kill', async () => {
    // A gap counts for a fifth of the day at most, so that the tenth failure is the last to come, not the day.
    for (let failures = 0; failures < failuresMin; failures += 1) {
      clock.moveTo(failures / 4);
      if (failures % failuresBetweenKills === failuresBetweenKills - 1) await kill();
      expect(await shown()).toMatchObject({ enabled: true, failures });
      await send();
      await until(async () => (await shown())['failures'] === failures + 1);
    }
    const disabled = await shown();
    expect(disabled).toMatchObject({ enabled: false, failures: failuresMin });
    await kill();
    expect(await shown()).toEqual(disabled);
    const requests = receiver.received.length;
    const message = await send();
    await until(async () => {
      const of = await gateway.call('GET', `/webhook-messages/${message}`);
      return of.body.data.deliveries[0]?.state === 'cancelled';
    });
    expect(receiver.received).toHaveLength(requests);
  });

  it('works once a person has enabled it, also after a kill', async () => {
    isWell = true;
    const requests = receiver.received.length;
    await gateway.call('PATCH', `/webhook-endpoints/${id}`, { body: { enabled: true } });
    await kill();
    expect(await shown()).toMatchObject({ enabled: true, failures: 0, disabled_at: null });
    await send();
    await receiver.got(requests + 1);
  });
});
