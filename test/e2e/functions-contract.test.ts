/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlayedProvider } from '#fake-providers/play.ts';
import { openFakeAuth, visit, type FakeAuth } from '#fake-providers/server.ts';
import { checkedFetch } from '#test/support/judges/answers.ts';
import {
  environmentRows,
  handleRows,
  httpRows,
  moduleRows,
  type ActionRow,
} from '#test/support/judges/contract/action-rows.ts';
import {
  action,
  actionOf,
  bundle,
  flow,
  helpers,
  integration,
  nobody,
} from '#test/support/judges/contract/row-functions.ts';
import { syncRows } from '#test/support/judges/contract/sync-rows.ts';
import { childPids } from '#test/support/processes/sandbox-processes.ts';
import { providerOf } from '#test/support/worlds/authorizing.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

/**
 * The rows of docs/reference/functions.md on one gateway: each is a function of its own, deployed as a bundle.
 * Rows about compiling are tested in test/unit/src/cli/compiler, about schedules in
 * test/unit/src/modules/functions/syncs and functions, about limits in test/unit/src/adapters/sandbox/limits.test.ts, about
 * validation in validation.test.ts beside it, about webhooks and events (§13, §14) in
 * test/unit/src/modules/functions/runs/runner/invoked-run.test.ts.
 */

const actionRows = [...moduleRows, ...environmentRows, ...handleRows, ...httpRows];
const nameOf = (index: number): string => `row-${index}`;

const syncs = syncRows.map(({ body, fails }, index) => {
  const model = `M${index}`;
  const exec = fails
    ? `const M = '${model}'; ${body}`
    : `const M = '${model}'; const result = await (async () => { ${body} })(); await svc.updateMetadata({ [M]: result ?? null }); return result;`;
  const js = bundle(
    '',
    `createSync({ description: '', frequency: 'every week', models: { ${model}: z.looseObject({ id: z.any() }) }, exec: async (svc) => { ${exec} } })`,
  );
  return flow(`sync-${index}`, js, {
    type: 'sync',
    models: [model],
    runs: 'every week',
    auto_start: true,
    models_json_schema: { definitions: { [model]: { type: 'object' } } },
  });
});

let world: CrmWorld;
let fake: FakeAuth;
let consenting: PlayedProvider;
let headers: Record<string, string>;
let metadata: Record<string, unknown>;
let statuses: Map<string, string>;

beforeAll(async () => {
  fake = await openFakeAuth();
  consenting = fake.play(providerOf('OAUTH2', { name: 'consenting' }));
  const hosts = [nobody, fake.hostPort];
  world = await openCrmWorld({ hosts, definitions: fake.definitions() });
  const { gateway, provider } = world;
  const of = { provider: 'crm', unique_key: integration };
  succeeded(await gateway.call('POST', '/integrations', { body: of }));
  const actions = actionRows.map(({ body, head }, n) => action(nameOf(n), actionOf(body, head)));
  const functions = [...helpers, ...actions, ...syncs];
  const reconciliationScope = { kind: 'integration', integrationId: integration };
  const body = { reconciliationScope, functions };
  succeeded(await gateway.call('POST', '/functions/deployments/bundle', { body }));

  const id = 'acme-rows';
  const account = provider.account(id);
  const rows = (count: number) => Array.from({ length: count }, (_, n) => ({ id: n + 1 }));
  Object.assign(account, { contacts: rows(3), deals: rows(3), notes: rows(3) });
  const connection = {
    provider_config_key: integration,
    connection_id: id,
    connection_config: { account: id },
    credentials: { type: 'API_KEY', apiKey: provider.apiKey },
  };
  succeeded(await gateway.call('POST', '/connections', { body: connection }));
  headers = { 'provider-config-key': integration, 'connection-id': id };
  const query = `provider_config_key=${integration}`;
  const ended = await eventually(
    async () =>
      succeeded(await gateway.call('GET', `/sync/status?syncs=*&connection_id=${id}&${query}`))
        .syncs as { name: string; latestExecutionStatus: string | null; finishedAt?: string }[],
    (all) => all.length === syncRows.length && all.every(({ finishedAt }) => finishedAt),
  );
  statuses = new Map(
    ended.map(({ name, latestExecutionStatus }) => [name, latestExecutionStatus ?? '']),
  );
  metadata = succeeded(await gateway.call('GET', `/connections/${id}?${query}`)).metadata;
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

const run = (name: string, input?: unknown, more: Record<string, string> = {}) =>
  world.gateway.call('POST', '/action/trigger', {
    headers: { ...headers, ...more },
    body: { action_name: name, ...(input === undefined ? {} : { input }) },
  });

describe('the rows of functions, in an action', () => {
  it.each(actionRows.map((row, index): [string, number, ActionRow] => [row.row, index, row]))(
    '%s',
    async (_row, index, { input, expected }) => {
      expect(await run(nameOf(index), input)).toMatchObject({ status: 200, body: expected });
    },
  );

  it('§3 module-level state does not survive a run', async () => {
    expect([(await run('row-counts')).body, (await run('row-counts')).body]).toEqual([1, 1]);
  });

  it('§9 a checkpoint of an action is there for its next run', async () => {
    expect([(await run('row-progress')).body, (await run('row-progress')).body]).toEqual([1, 2]);
  });
});

describe('the rows of functions, in a sync', () => {
  it.each(syncRows.map((row, index) => [row.row, index, row] as const))(
    '%s',
    (_row, index, { expected, fails = false }) => {
      const seen = [statuses.get(`sync-${index}`), metadata[`M${index}`]];
      expect(seen).toEqual([fails ? 'ERROR' : 'SUCCESS', expected]);
    },
  );
});

describe('§15 on the API', () => {
  it.each([
    [
      '§15 ActionError with a payload',
      'object',
      424,
      { error_type: 'action_script_failure', payload: { reason: 'object' } },
    ],
    [
      '§15 ActionError with text: wrapped',
      'text',
      424,
      { error_type: 'action_script_failure', payload: { message: 'text' } },
    ],
    [
      '§15 ActionError with a list: wrapped',
      'list',
      424,
      { error_type: 'action_script_failure', payload: { message: [1, 2] } },
    ],
    [
      '§15 a provider’s error escapes',
      'provider',
      424,
      {
        error: {
          code: 'script_http_error',
          payload: { error: 'nothing at /missing' },
          upstream: { status: 404, body: { error: 'nothing at /missing' } },
        },
      },
    ],
    [
      '§15 a network error escapes',
      'network',
      424,
      { error: { code: 'script_network_error', payload: { code: 'ECONNREFUSED' } } },
    ],
    [
      '§16 more memory than a run may have',
      'memory',
      424,
      { error: { code: 'function_runtime_out_of_memory' } },
    ],
    ['§15 a refused address escapes', 'refused', 424, { error: { code: 'script_internal_error' } }],
    [
      '§15 anything else is thrown',
      'error',
      424,
      {
        error: {
          code: 'script_internal_error',
          payload: { name: 'TypeError', code: 'E_BUG', message: 'a bug' },
        },
      },
    ],
    ['§15 null is thrown', 'null', 424, { error: { code: 'script_internal_error' } }],
    ['§15 an output over 2 MB', 'large', 424, { error: { code: 'script_output_too_large' } }],
    ['§15 nothing is returned', 'nothing', 200, null],
  ])('%s', async (_row, how, status, body) => {
    const answer = await run('row-fails', how);
    expect(answer.status).toBe(status);
    if (body === null) expect(answer.body).toBeNull();
    else expect(answer.body).toMatchObject(body);
  });

  it('§15 async: a provider’s error is returned with the outcome', async () => {
    const queued = await run('row-fails', 'provider', { 'x-async': 'true' });
    const read = () => world.gateway.call('GET', queued.body.statusUrl as string);
    const ended = await eventually(read, ({ status }) => status !== 404);
    expect(ended).toMatchObject({ status: 424, body: { error: { code: 'script_http_error' } } });
  });

  /** Ids of the runs that go on, once they are so many. */
  const running = (name: string, count: number): Promise<string[]> =>
    eventually(
      async () => {
        const search = `/runs?connection_id=acme-rows&function=${name}&status=running`;
        const { data } = succeeded(await world.gateway.call('GET', search));
        return (data as { id: string }[]).map(({ id }) => id);
      },
      ({ length }) => length === count,
    );

  it('§15 interrupted: 503, as the process was lost that several ran in', async () => {
    const answers = Array.from({ length: 3 }, () => run('row-waits'));
    await running('row-waits', answers.length);
    for (const pid of childPids(world.gateway.process.pid)) process.kill(pid, 'SIGKILL');
    const codes = (await Promise.all(answers)).map(({ status, body }) => [status, body.error.code]);
    expect(codes).toContainEqual([503, 'run_interrupted']);
  });

  it('§15 cancelled: 410', async () => {
    const answer = run('row-endless');
    const [id] = await running('row-endless', 1);
    succeeded(await world.gateway.call('POST', `/runs/${id}/cancel`));
    expect(await answer).toMatchObject({
      status: 410,
      body: { error: { code: 'script_aborted' } },
    });
  });

  it('§15 async: 202 at first, 404 while it runs, then the output; failures are tried again', async () => {
    const queued = await run('row-echo', { a: 1 }, { 'x-async': 'true', 'x-max-retries': '2' });
    expect(queued).toMatchObject({ status: 202, body: { statusUrl: `/action/${queued.body.id}` } });
    const read = () => world.gateway.call('GET', queued.body.statusUrl as string);
    const ended = await eventually(read, ({ status }) => status !== 404);
    expect(ended).toMatchObject({ status: 200, body: { a: 1 } });
  });
});

describe('§7.1 what does not fit its schema', () => {
  const set = (validation: string) =>
    world.gateway.call('PATCH', `/environments/${world.environmentId}`, {
      key: world.gateway.accountKey,
      body: { validation },
    });

  it('§7.1 validation: passes with a warning, unless the environment refuses it', async () => {
    expect(await run('row-typed', { n: 2 })).toMatchObject({ status: 200, body: { n: 'one' } });
    const refused = await run('row-typed', { n: 'x' });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_action_input']);
    expect(await set('error')).toMatchObject({
      status: 200,
      body: { data: { validation: 'error' } },
    });
    const refusals = [
      [{ n: 'x' }, 'invalid_action_input'],
      [{ n: 2 }, 'invalid_action_output'],
    ] as const;
    for (const [input, code] of refusals) {
      const answer = await run('row-typed', input);
      expect([answer.status, answer.body.error.code]).toEqual([400, code]);
    }
    expect(await run('row-typed', { n: 1 })).toMatchObject({ status: 200, body: { n: 1 } });
    expect((await set('warn')).status).toBe(200);
  });
});

describe('§14 on the API', () => {
  const deploy = (functions: object[], integrationId = integration) => {
    const of = functions.map((one) => ({ ...one, integrationId }));
    const scope = { kind: 'function', integrationId, name: 'hook', type: 'on-event' };
    const body = { reconciliationScope: scope, functions: of };
    return world.gateway.call('POST', '/functions/deployments/bundle', { body });
  };
  /** The query of a person's browser. */
  const session = async (more: Readonly<Record<string, string>>): Promise<string> => {
    const body = { end_user: { id: 'u1' } };
    const made = succeeded(await world.gateway.call('POST', '/connect/sessions', { body }));
    const connect_session_token: string = made.data.token;
    return new URLSearchParams({ connect_session_token, ...more }).toString();
  };
  const hook = (event: string, body: string) => ({
    type: 'on-event',
    name: 'hook',
    event,
    fileBody: {
      js: bundle(
        '',
        `createOnEvent({ description: '', event: '${event}', exec: async (svc) => { ${body} } })`,
      ),
      ts: '// of a row',
    },
  });
  const connect = (id: string) =>
    world.gateway.call('POST', '/connections', {
      body: {
        provider_config_key: integration,
        connection_id: id,
        connection_config: { account: id },
        credentials: { type: 'API_KEY', apiKey: world.provider.apiKey },
      },
    });
  const path = (id: string) => `/connections/${id}?provider_config_key=${integration}`;

  it('§14 validate-connection refuses an import with its message, and nothing is left', async () => {
    expect(
      await deploy([
        hook('validate-connection', `throw new svc.ActionError({ message: 'too small' });`),
      ]),
    ).toMatchObject({ status: 200 });
    expect(await connect('unwanted')).toMatchObject({
      status: 400,
      body: { error: { code: 'connection_validation_failed', message: 'too small' } },
    });
    expect((await world.gateway.call('GET', path('unwanted'))).status).toBe(404);
  });

  it('§14 validate-connection refuses a form', async () => {
    const path = `/api-auth/api-key/${integration}`;
    const query = await session({ 'params[account]': 'unwanted' });
    const body = { apiKey: world.provider.apiKey };
    const refused = await world.gateway.call('POST', `${path}?${query}`, { key: null, body });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { code: 'connection_validation_failed', message: 'too small' } },
    });
  });

  it('§14 validate-connection refuses who comes back from the provider', async () => {
    const { integration: credentials, connectionConfig } = consenting;
    const of = { provider: 'consenting', unique_key: 'consenting', credentials };
    succeeded(await world.gateway.call('POST', '/integrations', { body: of }));
    const refusing = hook('validate-connection', `throw new svc.ActionError('no seat left');`);
    expect(await deploy([refusing], 'consenting')).toMatchObject({ status: 200 });
    const params = Object.entries(connectionConfig).map(([name, value]) => [
      `params[${name}]`,
      value,
    ]);
    const query = await session(Object.fromEntries(params) as Record<string, string>);
    const redirect = { redirect: 'manual' } as const;
    const path = `${world.gateway.url}/oauth/connect/consenting?${query}`;
    const started = await checkedFetch(path, redirect);
    const back = new URLSearchParams(await visit(started.headers.get('location') ?? ''));
    const cookie = (started.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
    const landed = await checkedFetch(`${world.gateway.url}/oauth/callback?${back.toString()}`, {
      ...redirect,
      headers: { cookie },
    });
    expect(landed.status).toBe(400);
    expect(await landed.text()).toContain('no seat left');
    const listed = await world.gateway.call('GET', '/connections?integrationId=consenting');
    expect(listed.body.connections).toEqual([]);
  });

  it('§14 pre-connection-deletion blocks the deletion: 424, and the connection stays', async () => {
    expect(
      await deploy([hook('pre-connection-deletion', `throw new Error('not yet');`)]),
    ).toMatchObject({ status: 200 });
    succeeded(await connect('kept'));
    expect(await world.gateway.call('DELETE', path('kept'))).toMatchObject({
      status: 424,
      body: { error: { code: 'connection_deletion_refused', message: 'not yet' } },
    });
    expect((await world.gateway.call('GET', path('kept'))).status).toBe(200);
    expect(await deploy([])).toMatchObject({ status: 200 });
    expect((await world.gateway.call('DELETE', path('kept'))).status).toBe(200);
  });

  it('§14 post-connection-creation runs after the answer', async () => {
    expect(
      await deploy([
        hook('post-connection-creation', `await svc.setMetadata({ greeted: svc.connectionId });`),
      ]),
    ).toMatchObject({ status: 200 });
    succeeded(await connect('greeted'));
    const shown = await eventually(
      async () => succeeded(await world.gateway.call('GET', path('greeted'))),
      ({ metadata: seen }) => seen.greeted !== undefined,
    );
    expect(shown.metadata).toMatchObject({ greeted: 'greeted' });
    expect(await deploy([])).toMatchObject({ status: 200 });
  });
});
