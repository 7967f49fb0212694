/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { standardWebhook, webhookProviders } from '#test/support/fakes/fake-webhook-provider.ts';
import { openWebhookReceiver, type WebhookReceiver } from '#test/support/fakes/webhook-receiver.ts';
import { startGateway, type Answer, type RunningGateway } from '#test/support/processes/gateway.ts';

const secret = 'whsec_b2YgYW4gZW5kIHRvIGVuZCB0ZXN0';
let stack: AsyncDisposableStack;
let gateway: RunningGateway;
let app: WebhookReceiver;
let env: Record<string, string>;
let address: string;

/** Saves what the webhook says under its id; the other one has nothing to take a webhook. */
const bundleOf = (model: string, onWebhook: string): string => `
  const { z } = require('zod');
  module.exports.default = {
    type: 'sync', description: 'Notes', frequency: 'every week', autoStart: true, syncType: 'full',
    models: { ${model}: z.looseObject({ id: z.string() }) }, exec: async () => {}, ${onWebhook}
  };`;

const flowOf = (syncName: string, model: string, onWebhook: string) => ({
  type: 'sync',
  syncName,
  providerConfigKey: 'notes',
  models: [model],
  runs: 'every week',
  auto_start: true,
  fileBody: { js: bundleOf(model, onWebhook), ts: 'export default {};' },
  webhookSubscriptions: ['note.edited'],
  models_json_schema: {
    definitions: { [model]: { type: 'object', properties: { id: { type: 'string' } } } },
  },
});

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  app = stack.use(await openWebhookReceiver());
  const folder = await mkdtemp(join(tmpdir(), 'svc-webhooks-in-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const overlay = join(folder, 'providers.json');
  await writeFile(overlay, JSON.stringify(webhookProviders(app.url)));
  env = { SVC_PROVIDERS: overlay, SVC_EGRESS_ALLOW: new URL(app.url).host };
  gateway = await startGateway({ dataDir: join(folder, 'data'), env });
  stack.defer(() => gateway.stop());
  await done('POST', '/integrations', { provider: 'notes', unique_key: 'notes' });
  const connection = { provider_config_key: 'notes', connection_id: 'ann' };
  const credentials = { type: 'API_KEY', apiKey: 'k' };
  const metadata = { webhookSecret: secret };
  await done('POST', '/connections', { ...connection, credentials, metadata });
  await done('POST', '/webhook-endpoints', { url: `${app.url}/app`, kinds: ['forward', 'sync'] });
  await done('POST', '/functions/deployments/bundle', {
    reconciliationScope: { kind: 'environment' },
    functions: [
      flowOf(
        'hears',
        'Note',
        `onWebhook: async (svc, payload) => {
          await svc.batchSave([{ id: payload.note_id, said: payload.said }], 'Note');
        },`,
      ),
      flowOf('deaf', 'Other', ''),
    ],
  });
  const shown = await gateway.call('GET', '/integrations/notes?include=webhook');
  address = `${new URL(shown.body.data.webhook_url as string).pathname}?svcConnectionId=ann`;
});
afterAll(() => stack.disposeAsync());

async function done(method: string, path: string, body: object): Promise<Answer> {
  const answer = await gateway.call(method, path, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer;
}

const send = (id: string, said: unknown = `of ${id}`): Promise<Response> => {
  const event = { type: 'note.edited', note_id: id, said };
  const sent = standardWebhook(gateway.url + address, secret, event, Date.now(), `msg_${id}`);
  return fetch(sent.url, { method: 'POST', headers: sent.headers, body: sent.body });
};

interface Listed {
  readonly id: string;
  readonly disposition: string;
  readonly reason: string | null;
  readonly decided_at: string | null;
  readonly refused_count: number | null;
  readonly run_ids: readonly string[];
}

const listed = async (query: string): Promise<Listed[]> => {
  const answer = await gateway.call('GET', `/webhook-deliveries?limit=1000${query}`);
  return answer.body.data as Listed[];
};

const forwarded = (): string[] =>
  app.received.flatMap(({ body }) => {
    const { type, payload } = JSON.parse(body) as { type: string; payload?: { note_id: string } };
    return type === 'forward' ? [payload?.note_id ?? ''] : [];
  });

/** Of the webhooks about runs. */
const syncTypes = (): unknown[] =>
  app.received.map(({ body }) => (JSON.parse(body) as { syncType?: string }).syncType);

/** Bytes of all files in the folder. */
async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Asks again until there is something. */
async function until<T>(ask: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (;;) {
    const found = await ask();
    if (found !== null && found !== undefined && found !== false) return found;
    await wait(100);
  }
}

/** Ids of the records of the connection. */
async function records(): Promise<string[]> {
  const headers = { 'provider-config-key': 'notes', 'connection-id': 'ann' };
  const answer = await gateway.call('GET', '/records?model=Note&limit=1000', { headers });
  return (answer.body.records as { id: string }[]).map(({ id }) => id);
}

describe('a webhook of a provider', () => {
  it('reaches the application, and the onWebhook that subscribes to it, which saves records', async () => {
    expect((await send('first')).status).toBe(200);
    await expect.poll(forwarded).toContain('first');
    await expect.poll(records).toContain('first');
    await expect.poll(syncTypes).toContain('WEBHOOK');
    const told = app.received.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    expect(told.filter(({ type }) => type === 'forward')).toMatchObject([
      { connectionId: 'ann', payload: { note_id: 'first', said: 'of first' } },
    ]);
    const [delivery] = await listed('&disposition=accepted');
    expect(delivery?.run_ids).toHaveLength(2);
  });

  it('keeps a key __proto__ of its payload, forwarded and saved', async () => {
    const said = JSON.parse('{"__proto__":{"b":[{"__proto__":2}]},"a":1}') as object;
    expect((await send('odd', said)).status).toBe(200);
    await expect.poll(forwarded).toContain('odd');
    await expect.poll(records).toContain('odd');
    const forward = app.received.find(({ body }) => body.includes('"odd"'));
    expect(forward?.body).toContain(JSON.stringify(said));
    const headers = { 'provider-config-key': 'notes', 'connection-id': 'ann' };
    const page = await gateway.call('GET', '/records?model=Note&ids=odd', { headers });
    expect(JSON.stringify(page.body.records)).toContain(JSON.stringify(said));
  });

  it('is an error in the log, and no failed sync, where the sync has no onWebhook', async () => {
    const ofDeaf = await until(async () => {
      const body = { limit: 100, types: ['webhook:incoming'], states: ['cancelled'] };
      const answer = await gateway.call('POST', '/logs/operations', { body });
      const found = answer.body.data as { syncConfigName: string }[];
      // One for each of the two webhooks above.
      return found.length < 2 ? null : found;
    });
    const ofOne = { syncConfigName: 'deaf', message: 'The function has no onWebhook.' };
    expect(ofDeaf).toMatchObject([ofOne, ofOne]);
    const failed = app.received.filter(({ body }) => body.includes('"success":false'));
    expect(failed).toEqual([]);
  });

  it('whose process is killed before it has published the outcome is evaluated by the next one', async () => {
    const answered: string[] = [];
    let left: readonly Listed[] = [];
    for (let round = 0; left.length === 0; round += 1) {
      const ids = Array.from({ length: 60 }, (_, number) => `k${round}-${number}`);
      const sending = ids.map(async (id) => {
        const answer = await send(id).catch(() => null);
        if (answer?.status === 200) answered.push(id);
      });
      await Promise.race(sending);
      const killedAt = Date.now();
      gateway.process.kill('SIGKILL');
      await Promise.all([gateway.exited, ...sending]);
      gateway = await startGateway({ dataDir: gateway.dataDir, env });
      // A start may be slow on a busy machine: the next process may have judged them by now.
      left = (await listed('')).filter(
        ({ decided_at: at }) => at === null || Date.parse(at) > killedAt,
      );
    }
    await until(async () => (await listed('&disposition=received')).length === 0);
    const accepted = await listed('&disposition=accepted');
    const known = new Set(accepted.map(({ id }) => id));
    for (const { id } of left) expect(known).toContain(id);
    for (const { run_ids: runs } of accepted) expect(runs).toHaveLength(2);
    // Acknowledged webhooks are processed, and stored ones have reached the application.
    await until(() => forwarded().length >= accepted.length);
    expect(new Set(forwarded()).size).toBe(accepted.length);
    for (const id of answered) expect(forwarded()).toContain(id);
  });

  it('is known when the provider repeats it to the next process', async () => {
    expect((await send('first')).status).toBe(200);
    const [repeat] = await listed('&disposition=duplicate');
    const accepted = await listed('&disposition=accepted');
    expect(accepted.map(({ id }) => id)).toContain(repeat?.reason);
    expect(forwarded().filter((id) => id === 'first')).toHaveLength(1);
  });

  it('is taken while an unknown sender floods its integration, of whom little is kept', async () => {
    const logFolder = join(gateway.dataDir, 'log');
    const before = await sizeOf(logFolder);
    const acceptedBefore = await listed('&disposition=accepted');
    const junk = JSON.stringify({ type: 'note.edited', filler: 'x'.repeat(32 * 1024) });
    const forge = async (): Promise<number> => {
      const headers = {
        'content-type': 'application/json',
        'webhook-id': 'm',
        'webhook-signature': 'v1,x',
      };
      const timed = { ...headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
      return (await fetch(gateway.url + address, { method: 'POST', headers: timed, body: junk }))
        .status;
    };
    const statuses: number[] = [];
    const genuine: string[] = [];
    let sent = 0;
    const senders = Array.from({ length: 8 }, async () => {
      while (sent < 1_500) {
        sent += 1;
        const number = sent;
        statuses.push(await forge());
        if (number % 100 !== 0) continue;
        const id = `flooded-${number}`;
        expect((await send(id)).status).toBe(200);
        genuine.push(id);
      }
    });
    await Promise.all(senders);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(genuine).toHaveLength(15);
    await expect.poll(forwarded).toEqual(expect.arrayContaining(genuine));
    const accepted = await listed('&disposition=accepted');
    expect(accepted).toHaveLength(acceptedBefore.length + genuine.length);
    expect((await listed('&disposition=rejected')).length).toBeLessThan(100);
    const refused = await listed('&disposition=refused');
    expect(Math.max(...refused.map((row) => row.refused_count ?? 0))).toBeGreaterThanOrEqual(100);
    // 48 MB came in; 1 MiB of it is kept in an hour, what the genuine ones make of themselves, and room of the files.
    expect((await sizeOf(logFolder)) - before).toBeLessThan(16 * 1024 ** 2);
  });
});
