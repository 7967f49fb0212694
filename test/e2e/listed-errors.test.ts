import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '#test/support/processes/gateway.ts';
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
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

const codeOf = ({ status, body }: Answer): string =>
  `${status} ${(body as { error?: { code: string } }).error?.code ?? ''}`;
const call = (method: string, path: string, body?: object, headers = crm.headers) =>
  world.gateway.call(method, path, { headers, ...(body === undefined ? {} : { body }) });

const of = (more: object = {}) => ({
  provider_config_key: 'crm',
  connection_id: crm.id,
  ...more,
});
const nobody = { provider_config_key: 'nobody', connection_id: 'nobody' };

const echo = `import { createAction } from 'svc';
import { z } from 'zod';
export default createAction({ description: 'd', input: z.any(), output: z.any(), exec: async (_svc, input) => input });`;
const broken = 'export default (';

/** Asks again while all places are taken, and keeps how that was said. */
class Places {
  readonly refusals: string[] = [];

  until(ask: () => Promise<Answer>): Promise<Answer> {
    return eventually(
      () => this.once(ask),
      ({ status }) => status !== 503,
    );
  }

  async once(ask: () => Promise<Answer>): Promise<Answer> {
    const answer = await ask();
    if (answer.status === 503) this.refusals.push(codeOf(answer));
    return answer;
  }
}

const sync = (more: object) => ({
  type: 'sync',
  fileBody: { js: 'x', ts: 'x' },
  syncName: 'late',
  providerConfigKey: 'crm',
  models: ['Late'],
  runs: 'every hour',
  models_json_schema: { definitions: { Late: {} } },
  ...more,
});

/** Errors that no other file of tests provokes. */
describe('a deployment', () => {
  it.each([
    ['integration_not_found', { providerConfigKey: 'nobody' }],
    ['missing_required_fields_on_deploy', { fileBody: { js: '', ts: 'x' } }],
    ['deploy_missing_json_schema_model', { models_json_schema: { definitions: {} } }],
    ['sync_interval_invalid', { runs: 'now and then' }],
    ['sync_interval_too_short', { runs: 'every 1 second' }],
  ])('is refused with %s', async (code, more) => {
    const body = { reconciliationScope: { kind: 'environment' }, functions: [sync(more)] };
    for (const path of ['/functions/deployments/bundle/preview', '/functions/deployments/bundle']) {
      expect(codeOf(await call('POST', path, body))).toBe(`400 ${code}`);
    }
  });

  it('of a file is compiled, or refused with what is wrong with it', async () => {
    const places = new Places();
    const compile = (code: string) => () => call('POST', '/functions/compile', { code });
    // Two are compiled at a time.
    const [done, refused] = await Promise.all([
      places.until(compile(echo)),
      places.until(compile(broken)),
      places.once(compile(broken)),
    ]);
    expect([done, refused].map(codeOf)).toEqual(['200 ', '400 compilation_error']);
    expect(places.refusals).toContain('503 execution_environment_unavailable');
  });

  it('that has a name twice shows the source of the one that is asked for', async () => {
    const reconciliationScope = {
      kind: 'function',
      integrationId: 'crm',
      name: 'contacts',
      type: 'action',
    };
    const of = { syncName: 'contacts', providerConfigKey: 'crm', models: [], runs: null };
    const functions = [{ type: 'action', ...of, fileBody: { js: 'x', ts: '// the action' } }];
    const body = { reconciliationScope, functions };
    expect(codeOf(await call('POST', '/functions/deployments/bundle', body))).toBe('200 ');
    const path = '/integrations/crm/functions/contacts/code';
    expect(codeOf(await call('GET', path))).toBe('409 ambiguous_function');
    const shown = await call('GET', `${path}?type=action`);
    expect(shown.body).toEqual({ type: 'action', code: '// the action' });
    const empty = { reconciliationScope, functions: [] };
    expect(codeOf(await call('POST', '/functions/deployments/bundle', empty))).toBe('200 ');
  });
});

describe('a dry run', () => {
  const wanted = (more: object = {}) => ({
    integration_id: 'crm',
    function_type: 'action',
    connection_id: crm.id,
    code: echo,
    ...more,
  });
  const begin = (more?: object) => call('POST', '/functions/dryruns', wanted(more));

  it('gives what the function returns', async () => {
    const places = new Places();
    const input = { a: [1] };
    const [begun, refused] = await Promise.all([
      places.until(() => begin({ input })),
      places.until(() => begin({ code: broken })),
      places.once(() => begin({ code: broken })),
    ]);
    expect([begun, refused].map(codeOf)).toEqual(['202 ', '400 compilation_error']);
    expect(places.refusals).toContain('503 execution_environment_unavailable');
    const { id } = begun.body as { id: string };
    const read = () => call('GET', `/functions/dryruns/${id}`);
    await expect
      .poll(async () => (await read()).body as unknown)
      .toMatchObject({ status: 'success' });
    expect((await read()).body).toMatchObject({ output: input });
  });

  it.each([
    ['404 integration_not_found', { integration_id: 'nobody' }],
    ['404 connection_not_found', { connection_id: 'nobody' }],
    ['413 request_too_large', { input: 'x'.repeat(2 * 1024 ** 2) }],
  ])('is refused with %s', async (code, more) => {
    expect(codeOf(await begin(more))).toBe(code);
  });
});

describe('what names something that is not there', () => {
  it.each([
    ['GET', '/records?model=Contact&cursor=none', undefined, '400 invalid_cursor_value'],
    [
      'PATCH',
      '/records/prune',
      { model: 'Contact', until_cursor: 'none' },
      '400 invalid_cursor_value',
    ],
    ['GET', '/integrations/nobody/functions', undefined, '404 not_found'],
    [
      'GET',
      '/sync/status?syncs=*&provider_config_key=nobody',
      undefined,
      '400 unknown_provider_config',
    ],
    ['GET', '/sync/status?syncs=none&provider_config_key=crm', undefined, '400 no_syncs_found'],
    ['GET', `/action/${randomUUID()}`, undefined, '404 not_found'],
    [
      'POST',
      '/logs/messages',
      { operationId: randomUUID(), cursorAfter: 'none' },
      '400 invalid_cursor_value',
    ],
    ['POST', `/webhook-endpoints/${randomUUID()}/test`, {}, '404 not_found'],
    ['GET', `/webhook-messages/${randomUUID()}`, undefined, '404 not_found'],
    ['POST', `/webhook-messages/${randomUUID()}/resend`, {}, '404 not_found'],
    ['GET', '/webhook-deliveries?cursor=none', undefined, '400 invalid_cursor_value'],
    ['POST', `/webhook-deliveries/${randomUUID()}/process`, {}, '404 not_found'],
  ])('%s %s', async (method, path, body, expected) => {
    expect(codeOf(await call(method, path, body))).toBe(expected);
  });

  it('is refused by the frequency of a sync and by its variants', async () => {
    const frequency = '/sync/update-connection-frequency';
    const set = { sync_name: 'contacts', frequency: null };
    expect(codeOf(await call('PUT', frequency, { ...nobody, ...set }))).toBe(
      '400 unknown_provider_config',
    );
    expect(codeOf(await call('PUT', frequency, of({ ...set, sync_name: 'none' })))).toBe(
      '400 unknown_sync',
    );
    const variant = (name: string, named = 'v') => `/sync/${name}/variant/${named}`;
    expect(codeOf(await call('POST', variant('contacts'), nobody))).toBe(
      '400 unknown_provider_config',
    );
    expect(codeOf(await call('POST', variant('none'), of()))).toBe('400 unknown_sync');
    expect(codeOf(await call('DELETE', variant('contacts'), nobody))).toBe(
      '400 unknown_provider_config',
    );
    expect(codeOf(await call('DELETE', variant('contacts', 'base'), of()))).toBe(
      '400 invalid_variant',
    );
  });

  it('is refused by an action', async () => {
    const headers = { ...crm.headers, 'provider-config-key': 'nobody' };
    const refused = await call('POST', '/action/trigger', { action_name: 'echo' }, headers);
    expect(codeOf(refused)).toBe('400 unknown_provider_config');
  });
});

describe('an asynchronous action', () => {
  it.each([
    [
      { how: 'action-error', payload: { why: 'asked to' } },
      { error_type: 'action_script_failure' },
    ],
    [{ how: 'exception' }, { error: { code: 'script_internal_error' } }],
  ])('and that fails with %j is asked for later', async (input, expected) => {
    const queued = await crm.action('fail', input, { 'x-async': 'true' });
    const { statusUrl } = queued.body as { statusUrl: string };
    await expect.poll(async () => (await call('GET', statusUrl)).status).toBe(424);
    expect((await call('GET', statusUrl)).body).toMatchObject(expected);
  });
});
