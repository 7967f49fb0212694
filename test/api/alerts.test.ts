import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSmtpMailer } from '#adapters/mail/smtp.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { limits } from '#kernel/limits.ts';
import { environmentEntity } from '#modules/access/environments/entity.ts';
import { connectionRef, type ConnectionEntity } from '#modules/connections/connections/entity.ts';
import { importConnection } from '#modules/connections/connections/handlers.ts';
import { createDestination } from '#modules/extensions/alert-destinations/handlers.ts';
import {
  startAlertMonitor,
  type AlertMonitor,
  type Observation,
} from '#modules/extensions/alerts/monitor.ts';
import { parkTo } from '#modules/operations/dead-letters/park.ts';
import { verifyDelivery } from '#rules/signature.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import { openSmtpReceiver, type SmtpReceiver } from '#test/support/fakes/smtp-receiver.ts';
import { openWebhookReceiver, type WebhookReceiver } from '#test/support/fakes/webhook-receiver.ts';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';
import { until } from '#test/support/worlds/runs.ts';

const clock = movedClock();
const secretPath = '/hook/T0/B0/a-token-that-nobody-may-see';
const password = 'a password: of/the server';
let stack: AsyncDisposableStack;
let api: Api;
let receiver: WebhookReceiver;
let smtp: SmtpReceiver;
let monitor: AlertMonitor;
let environmentUid: string;
let signingKey: string;
let projections: Observation = { count: 0, subjects: [] };
let connections = 0;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  receiver = stack.use(await openWebhookReceiver());
  smtp = stack.use(await openSmtpReceiver(password));
  const mailer = stack.use(createSmtpMailer(smtp.url, 'gateway@example.com'));
  const egressAllow = [new URL(receiver.url).host];
  api = stack.use(await startApi({ clock, egressAllow, mailer }));
  monitor = stack.use(startAlertMonitor(api.services, () => Promise.resolve(projections)));
  const provider = { provider: 'open-meteo', unique_key: 'open' };
  await api.call('POST', '/integrations', { body: provider });
  const environments = api.services.control.view.list(environmentEntity, []);
  environmentUid = environments.find(({ state }) => state.name === 'dev')?.state.uid ?? '';
  const rotated = await api.call('POST', '/environment/webhook-signing-key/rotate');
  signingKey = rotated.at('data.webhook_signing_key') as string;
});
afterAll(() => stack.disposeAsync());

/** Each test has its own destinations, and a pause between it and the one before. */
beforeEach(async () => {
  const listed = await api.call('GET', '/alert-destinations');
  for (const { id } of listed.at('data') as { id: string }[]) {
    await api.call('DELETE', `/alert-destinations/${id}`);
  }
  clock.forward(limits.alertPauseMs);
  receiver.answer = () => 200;
});

async function destination(type: string, target: string, more: object = {}): Promise<string> {
  const body = { type, target, ...more };
  const made = await api.call('POST', '/alert-destinations', { body });
  expect(codeOf(made)).toBe('201 ');
  return made.at('data.id') as string;
}

/** A connection, which commands change. */
async function connected() {
  const id = `c-${(connections += 1)}`;
  const body = { provider_config_key: 'open', connection_id: id, credentials: { type: 'NONE' } };
  expect(codeOf(await api.call('POST', '/connections', { body }))).toMatch(/^20/);
  const ref = connectionRef(environmentUid, 'open', id);
  const command = (fields: CommandOf<ConnectionEntity>) =>
    api.services.control.execute(ref, fields, { actor: 'system' });
  return {
    name: `open/${id}`,
    fail: (type: 'auth' | 'sync', message?: string) => {
      const error = { type, log_id: 'l', ...(message === undefined ? {} : { message }) };
      return command({ type: 'MarkError', error });
    },
    mend: (errorType: 'auth' | 'sync') => command({ type: 'ClearError', errorType }),
  };
}

const receivedAt = (path: string) =>
  receiver.received
    .filter((one) => one.path === path)
    .map(({ body }) => JSON.parse(body) as Record<string, unknown>);

describe('a failing connection', () => {
  it('is reported to a webhook that is signed, and so is its recovery', async () => {
    await destination('webhook', `${receiver.url}/signed`);
    const connection = await connected();
    await connection.fail('sync', 'Sync contacts: no such field (crm/syncs/contacts.ts:12:5)');
    await monitor.look();
    await monitor.look();
    await connection.mend('sync');
    await monitor.look();
    const [firing, recovered, ...more] = receivedAt('/signed');
    expect(more).toEqual([]);
    expect(firing).toMatchObject({
      type: 'alert',
      alert: 'connections_failing',
      state: 'firing',
      environment: 'dev',
      count: 1,
      subjects: [connection.name],
      reasons: {
        [connection.name]: 'Sync contacts: no such field (crm/syncs/contacts.ts:12:5)',
      },
      summary: 'dev: 1 connection fails.',
    });
    expect(recovered).toMatchObject({ state: 'recovered', count: 0, subjects: [] });
    const [request] = receiver.received.filter(({ path }) => path === '/signed');
    const signature = request?.headers['x-svc-hmac-sha256']?.toString();
    expect(verifyDelivery(signingKey, request?.body ?? '', signature)).toBe(true);
  });

  it('whose provider is away is reported once with its integration, not once per connection', async () => {
    await destination('webhook', `${receiver.url}/away`, { alerts: ['refreshes_failing'] });
    const { control, providers } = api.services;
    const provider = providers.find('open-meteo');
    if (provider === null) throw new Error('no provider');
    const expireAt = clock.now() + 60_000;
    const away = await Promise.all(
      ['away-1', 'away-2', 'away-3'].map(async (connectionId) => {
        const ref = { environmentUid, integrationKey: 'open', connectionId };
        const credentials = { credentials: { type: 'NONE' }, expiresAt: expireAt };
        const wanted = { ...ref, provider, credentials };
        const { connection } = await importConnection(api.services, wanted, { actor: 'system' });
        return { uid: connection.uid, ref: connectionRef(environmentUid, 'open', connectionId) };
      }),
    );
    const fail = async () => {
      for (const { uid, ref } of away) {
        const intent = { uid, id: uid, logId: uid };
        const begin: CommandOf<ConnectionEntity> = {
          type: 'BeginRefresh',
          ...intent,
          ifVersion: 1,
          spendsToken: false,
        };
        await control.execute(ref, begin, { actor: 'system' });
        const why = { isDefinitive: false, errorCode: 'unavailable', providerStatus: 503 };
        await control.execute(
          ref,
          { type: 'RefreshFailed', ...intent, ...why },
          { actor: 'system' },
        );
      }
    };
    await fail();
    await monitor.look();
    expect(receivedAt('/away')).toEqual([]);
    clock.forward(61_000);
    await fail();
    await monitor.look();
    await monitor.look();
    expect(receivedAt('/away')).toMatchObject([{ state: 'firing', count: 1, subjects: ['open'] }]);
    for (const { ref } of away) {
      const [, , connectionId] = ref.path;
      const path = `/connections/${connectionId}?provider_config_key=open`;
      await api.call('DELETE', path);
    }
    await monitor.look();
    expect(receivedAt('/away')).toMatchObject([{ state: 'firing' }, { state: 'recovered' }]);
  });

  it('goes to Slack with names that cannot mention or link anybody', async () => {
    await destination('slack', `${receiver.url}/slack`, { alerts: ['projections_stuck'] });
    projections = { count: 1, subjects: ['<!channel> & <https://evil.example|records>'] };
    await monitor.look();
    projections = { count: 0, subjects: [] };
    await monitor.look();
    expect(receivedAt('/slack')).toEqual([
      {
        text: 'dev: 1 projection is stuck.\n- &lt;!channel&gt; &amp; &lt;https://evil.example|records&gt;',
      },
      { text: 'dev: recovered, no projection is stuck any more.' },
    ]);
  });

  it('goes by mail, and a refused recipient gets it again', async () => {
    await destination('email', 'on-call@example.com');
    smtp.refused.add('on-call@example.com');
    const connection = await connected();
    await connection.fail('auth');
    await monitor.look();
    expect(smtp.mails).toEqual([]);
    smtp.refused.clear();
    await monitor.look();
    const [mail] = smtp.mails;
    expect(mail?.to).toEqual(['on-call@example.com']);
    expect(mail?.text).toContain('From: gateway@example.com');
    expect(mail?.text).toContain(
      'Subject: [svc] dev: 1 connection or integration cannot be refreshed.',
    );
    expect(mail?.text).toContain(`- ${connection.name}`);
    await connection.mend('auth');
    await monitor.look();
    expect(smtp.mails).toHaveLength(2);
  });

  it('is shown by the API', async () => {
    await destination('webhook', `${receiver.url}/shown`);
    const connection = await connected();
    await connection.fail('sync');
    await monitor.look();
    const alerts = (await api.call('GET', '/alerts')).at('data') as Record<string, unknown>[];
    expect(alerts.map(({ alert, firing }) => [alert, firing])).toEqual([
      ['connections_failing', true],
      ['refreshes_failing', false],
      ['dead_letters', false],
      ['projections_stuck', false],
      ['webhook_endpoints_disabled', false],
    ]);
    expect(alerts[0]).toMatchObject({ count: 1, subjects: [connection.name] });
    const [dev] = api.services.control.view
      .list(environmentEntity, [])
      .filter(({ state }) => state.name === 'dev');
    const scopes = ['environment:alerts:read'];
    const body = { environment_id: dev?.state.id, display_name: 'alerts alone', scopes };
    const made = await api.call('POST', '/environment/api-keys', { key: api.keys.account, body });
    const key = made.at('data.secret') as string;
    // It may not list connections.
    expect((await api.call('GET', '/alerts', { key })).at('data.0')).toMatchObject({
      count: 1,
      subjects: [],
    });
    await connection.mend('sync');
    await monitor.look();
  });
});

describe('a notice', () => {
  it('is sent once more to the destination that failed, not to the others', async () => {
    await destination('webhook', `${receiver.url}/up`);
    await destination('webhook', `${receiver.url}/down`);
    receiver.answer = ({ path }) => (path === '/down' ? 503 : 200);
    const connection = await connected();
    await connection.fail('sync');
    await monitor.look();
    receiver.answer = () => 200;
    await monitor.look();
    await monitor.look();
    expect([receivedAt('/up'), receivedAt('/down')].map(({ length }) => length)).toEqual([1, 2]);
    const [first, second] = receivedAt('/down');
    expect(second?.['id']).toBe(first?.['id']);
    await connection.mend('sync');
    await monitor.look();
  });

  it('goes only to enabled destinations of the environment that want its kind', async () => {
    await destination('webhook', `${receiver.url}/off`, { enabled: false });
    await destination('webhook', `${receiver.url}/others`, { alerts: ['dead_letters'] });
    const body = { type: 'webhook', target: `${receiver.url}/prod` };
    await api.call('POST', '/alert-destinations', { body, key: api.keys.prod });
    const connection = await connected();
    await connection.fail('sync');
    await monitor.look();
    await connection.mend('sync');
    await monitor.look();
    for (const path of ['/off', '/others', '/prod']) expect(receivedAt(path)).toEqual([]);
  });

  it('reports dead letters of the environment, and of no environment', async () => {
    await destination('webhook', `${receiver.url}/letters`, { alerts: ['dead_letters'] });
    const park = parkTo(api.services.publisher, 'svc.typed-topics');
    const messageOf = (uid: string) => ({
      key: 'k',
      value: null,
      headers: { ce_source: `/environments/${uid}` },
      offset: 1,
      timestamp: 0,
    });
    const topic = { topic: 'svc.runs.v1', partition: 0, replay: null };
    for (const uid of [environmentUid, '-', 'another']) {
      await park({ ...topic, message: messageOf(uid) }, new Error('no'), 5);
    }
    const { tables } = api.services.deadLetters;
    await until(() => tables.list({ limit: 10 }).length === 3);
    await monitor.look();
    expect(receivedAt('/letters')).toMatchObject([{ alert: 'dead_letters', count: 2 }]);
  });
});

describe('a destination', () => {
  it('shows no token of its URL, anywhere', async () => {
    const id = await destination('webhook', `${receiver.url}${secretPath}`, {
      display_name: 'Ops',
    });
    const listed = await api.call('GET', '/alert-destinations');
    expect(listed.at('data.0')).toMatchObject({
      id,
      display_name: 'Ops',
      type: 'webhook',
      target: `${receiver.url}/…`,
      alerts: null,
      enabled: true,
    });
    receiver.answer = () => 'reset';
    const tested = await api.call('POST', `/alert-destinations/${id}/test`);
    expect(tested.at('data')).toEqual({ delivered: false, status: null, error: 'ECONNRESET' });
    const { log } = api.services;
    for (const topic of ['svc.internal.control.v1', 'svc.internal.commands.v1', 'svc.config.v1']) {
      const partitions = await log.partitions(topic);
      for (let partition = 0; partition < partitions; partition += 1) {
        for await (const { messages } of log.read({ topic, partition, offset: 0 })) {
          for (const { value } of messages) {
            expect(Buffer.from(value ?? []).includes(secretPath)).toBe(false);
          }
        }
      }
    }
  });

  it('is tested, a few times a minute', async () => {
    const id = await destination('webhook', `${receiver.url}/tested`);
    const test = () => api.call('POST', `/alert-destinations/${id}/test`);
    const first = await test();
    expect(first.at('data')).toEqual({ delivered: true, status: 200, error: null });
    expect(receivedAt('/tested')).toMatchObject([{ alert: 'test', state: 'test' }]);
    const answers: string[] = [];
    for (let nth = 0; nth < limits.alertTestsPerMinute; nth += 1)
      answers.push(codeOf(await test()));
    expect(answers).toContain('429 too_many_request');
  });

  it('cannot lead to a private address', async () => {
    const key = api.keys.prod;
    const body = { type: 'webhook', target: 'http://169.254.169.254/latest' };
    const made = await api.call('POST', '/alert-destinations', { body, key });
    const id = made.at('data.id') as string;
    const tested = await api.call('POST', `/alert-destinations/${id}/test`, { key });
    expect(tested.at('data')).toEqual({ delivered: false, status: null, error: 'url_not_allowed' });
  });

  it('is changed: the new target is used, the type stays', async () => {
    const id = await destination('webhook', `${receiver.url}/before`);
    const body = { target: `${receiver.url}/after`, alerts: ['connections_failing'] };
    const changed = await api.call('PATCH', `/alert-destinations/${id}`, { body });
    expect(changed.at('data')).toMatchObject({ type: 'webhook', alerts: ['connections_failing'] });
    const connection = await connected();
    await connection.fail('sync');
    await monitor.look();
    await connection.mend('sync');
    await monitor.look();
    expect([receivedAt('/before'), receivedAt('/after')].map(({ length }) => length)).toEqual([
      0, 2,
    ]);
  });

  it.each([
    [{ type: 'webhook', target: 'ftp://example.com' }, 'target'],
    [{ type: 'slack', target: 'on-call@example.com' }, 'target'],
    [{ type: 'email', target: 'https://example.com' }, 'target'],
    [{ type: 'pager', target: 'https://example.com' }, 'type'],
    [{ type: 'webhook', target: 'https://example.com', alerts: ['weather'] }, 'alerts'],
  ])('is refused with the field that is wrong: %j', async (body, field) => {
    const refused = await api.call('POST', '/alert-destinations', { body });
    expect(codeOf(refused)).toBe('400 invalid_body');
    expect(JSON.stringify(refused.body)).toContain(`"${field}"`);
  });

  it.each([
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/test'],
  ])('that does not exist is named: %s', async (method, action) => {
    const path = `/alert-destinations/${randomUUID()}${action}`;
    const body = method === 'PATCH' ? { enabled: false } : undefined;
    const refused = await api.call(method, path, { body });
    expect(codeOf(refused)).toBe('404 not_found');
  });

  it('is made once with an Idempotency-Key, also when that is forgotten', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = { type: 'webhook', target: 'https://example.com' };
    const make = () => api.call('POST', '/alert-destinations', { body, headers });
    const ids = [(await make()).at('data.id'), (await make()).at('data.id')];
    expect(ids[0]).toBe(ids[1]);
    clock.forward(limits.idempotencyMs + 3_600_000);
    expect(codeOf(await make())).toBe('409 conflict');
  });

  it('of mail needs a mail server', async () => {
    const deps = { ...api.services, mailer: null };
    const wanted = { type: 'email', target: 'a@example.com', displayName: '' } as const;
    const made = createDestination(
      deps,
      environmentUid,
      { ...wanted, kinds: null, isEnabled: true },
      { actor: 'system' },
    );
    await expect(made).rejects.toThrow('SVC_SMTP_URL');
  });

  it('is limited in number', async () => {
    for (let nth = 0; nth < limits.alertDestinationsMax; nth += 1) {
      await destination('webhook', 'https://example.com');
    }
    const body = { type: 'webhook', target: 'https://example.com' };
    expect(codeOf(await api.call('POST', '/alert-destinations', { body }))).toBe(
      '400 resource_capped',
    );
  });
});
