/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-argument --
   a test looks into any answer, and expect.any() is anything */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventually,
  openSharedCrmWorld,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  crm = await world.connect({ metadata: { plan: 'gold' } });
});
afterAll(() => world[Symbol.asyncDispose]());

describe('an action', () => {
  it.each([[{ a: [1, null, 'é 🙂'] }], ['text'], [0], [false], [[]], [{}], [null]])(
    'answers its output %j as it is',
    async (input) => {
      expect(await crm.action('echo', input)).toMatchObject({ status: 200, body: input });
    },
  );

  it('knows where it runs, and calls another action', async () => {
    const { environmentId } = world;
    await world.gateway.call('PUT', '/environment-variables/REGION', { body: { value: 'north' } });
    expect(environmentId).toBeGreaterThan(0);
    expect((await crm.action('inspect')).body).toEqual({
      connectionId: crm.id,
      providerConfigKey: 'crm',
      environmentName: world.environmentName,
      token: { type: 'API_KEY', apiKey: world.provider.apiKey },
      metadata: { plan: 'gold' },
      variables: [{ name: 'REGION', value: 'north' }],
      integration: 'crm',
      echoed: { from: 'inspect' },
    });
  });

  it('runs 20 at a time, each with its own answer', async () => {
    const inputs = Array.from({ length: 20 }, (_, n) => ({ n }));
    const answers = await Promise.all(inputs.map((input) => crm.action('echo', input)));
    expect(answers.map(({ body }) => body)).toEqual(inputs);
  });

  it('runs on its own where somebody asks for that', async () => {
    const queued = await crm.action('echo', { slow: true }, { 'x-async': 'true' });
    const { id, statusUrl } = queued.body;
    expect(queued.status).toBe(202);
    expect(queued.headers.get('location')).toBe(`/action/${id}`);
    const ended = await eventually(
      () => world.gateway.call('GET', statusUrl),
      ({ status }) => status !== 404,
    );
    expect(ended).toMatchObject({ status: 200, body: { slow: true } });
    const hooks = () =>
      world.receiver.received
        .map(({ body }) => JSON.parse(body))
        .filter(({ type }) => type === 'async_action');
    while (hooks().length === 0) await world.receiver.got(world.receiver.received.length + 1);
    expect(hooks()).toEqual([
      {
        type: 'async_action',
        from: 'svc',
        connectionId: crm.id,
        providerConfigKey: 'crm',
        payload: { id, statusUrl },
      },
    ]);
  });
});

describe('an action that fails', () => {
  it.each([
    [
      { code: 'x', deep: [1] },
      { code: 'x', deep: [1] },
    ],
    ['text', { message: 'text' }],
    [['list'], { message: ['list'] }],
    [undefined, {}],
  ])('with an ActionError of %j answers exactly that', async (payload, answered) => {
    const answer = await crm.action('fail', { how: 'action-error', payload });
    expect(answer.status).toBe(424);
    expect(answer.body).toEqual({ error_type: 'action_script_failure', payload: answered });
  });

  it('with an exception reports its name and position', async () => {
    const { status, body } = await crm.action('fail', { how: 'exception' });
    expect([status, body.error.code]).toEqual([424, 'script_internal_error']);
    expect(body.error.payload).toMatchObject({
      name: 'RangeError',
      message: 'nothing here is in range',
    });
    expect(JSON.stringify(body)).not.toMatch(/node_modules|src\/adapters|file:/);
  });

  it.each([
    [401, { error: 'unauthorized' }],
    [500, { error: 'down', detail: { n: 1 } }],
    [404, { error: 'nothing at /thing' }],
  ])('at a provider that answers %i passes on what it said', async (status, body) => {
    const headers = { 'x-rate-limit': '9', 'x-private': 'no', 'set-cookie': 'a=b' };
    crm.account.plan('/thing', { status, headers, body });
    const answer = await crm.action('request', { endpoint: '/thing' });
    expect([answer.status, answer.body.error.code]).toEqual([424, 'script_http_error']);
    expect(answer.body.error.payload).toEqual(body);
    expect(answer.body.error.upstream).toEqual({
      status,
      headers: { 'content-type': 'application/json', 'x-rate-limit': '9' },
      body,
    });
  });

  it('retries as often as configured, and not after a second 401 with the same key', async () => {
    const wait = { 'retry-after': '0.01' };
    crm.account.plan(
      '/busy',
      { status: 429, headers: wait },
      { status: 503, headers: wait },
      { status: 200, body: { ok: 1 } },
    );
    expect(await crm.action('request', { endpoint: '/busy', retries: 2 })).toMatchObject({
      status: 200,
      body: { status: 200, data: { ok: 1 } },
    });
    crm.account.plan(
      '/locked',
      ...(Array<{ status: number; headers: object }>(5).fill({
        status: 401,
        headers: wait,
      }) as never[]),
    );
    const locked = await crm.action('request', { endpoint: '/locked', retries: 5 });
    expect(locked.body.error.upstream.status).toBe(401);
    expect(crm.account.asked.filter(({ path }) => path === '/locked')).toHaveLength(1);
  });

  it('outputs at most 2 MB', async () => {
    const fits = await crm.action('fail', { how: 'fits' });
    expect([fits.status, JSON.stringify(fits.body).length]).toEqual([200, 2 * 1024 ** 2]);
    const large = await crm.action('fail', { how: 'too-large' });
    expect([large.status, large.body.error.code]).toEqual([424, 'script_output_too_large']);
  });
});

describe('a request for an action', () => {
  const refusal = async (...request: Parameters<CrmConnection['action']>) => {
    const { status, body } = await crm.action(...request);
    return [status, body.error.code];
  };

  it('names what there is', async () => {
    expect(await refusal('none')).toEqual([404, 'not_found']);
    expect(await refusal('contacts')).toEqual([404, 'not_found']);
    expect(await refusal('echo', 1, { 'connection-id': 'none' })).toEqual([
      400,
      'unknown_connection',
    ]);
    expect(await refusal('echo', 1, { 'x-async': 'perhaps' })).toEqual([400, 'invalid_headers']);
    expect(await refusal('echo', 1, { 'x-max-retries': '6' })).toEqual([400, 'invalid_headers']);
    const unnamed = await world.gateway.call('POST', '/action/trigger', {
      body: { action_name: 'echo' },
    });
    expect(unnamed.body.error.code).toBe('invalid_headers');
  });

  it('carries at most 2 MB', async () => {
    const quotes = 2;
    const input = 'x'.repeat(2 * 1024 ** 2 - quotes);
    expect((await crm.action('echo', input)).status).toBe(200);
    expect(await refusal('echo', `${input}x`)).toEqual([413, 'request_too_large']);
  });

  it('does not find an output that is not there', async () => {
    const path = '/action/00000000-0000-4000-8000-000000000000';
    expect((await world.gateway.call('GET', path)).body.error.code).toBe('not_found');
    expect((await world.gateway.call('GET', '/action/x')).body.error.code).toBe(
      'invalid_uri_params',
    );
  });
});
