import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/gateway.ts';
import { openCrmWorld, type CrmConnection, type CrmWorld } from '../support/crm-world.ts';

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openCrmWorld();
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
    const compiled = await call('POST', '/functions/compile', {
      code: "import { createAction } from 'svc';\nimport { z } from 'zod';\nexport default createAction({ description: 'd', input: z.void(), output: z.void(), exec: async () => undefined });",
    });
    expect(codeOf(compiled)).toBe('200 ');
    const refused = await call('POST', '/functions/compile', { code: 'export default (' });
    expect(codeOf(refused)).toBe('400 compilation_error');
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

describe('an action that nobody waits for', () => {
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
