import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/stable-json.ts';
import { openManagementClient, type ManagementClient } from '#test/support/worlds/agent.ts';
import {
  openSharedCrmWorld,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
let crm: CrmConnection;
let agent: ManagementClient;
let names: { readonly provider_config_key: string; readonly connection_id: string };
beforeAll(async () => {
  world = await openSharedCrmWorld();
  crm = await world.connect();
  crm.account.contacts = [{ id: 'c-1', name: 'Ada' }];
  await crm.run('contacts');
  agent = await openManagementClient(world.gateway, { mayWrite: true });
  names = { provider_config_key: 'crm', connection_id: crm.id };
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const itemsOf = (result: JsonObject, field = 'data') => result[field] as readonly JsonObject[];
const idOf = (result: JsonObject): string => (result as { readonly id: string }).id;

/** The result of the tool once it has ended. */
async function ended(tool: string, id: string): Promise<JsonObject> {
  for (;;) {
    const result = await agent.call(tool, { id });
    if (result['status'] === 'success' || result['status'] === 'failed') return result;
    await wait(200);
  }
}

const codeWith = (field: string): string => `import { createSync } from 'svc';
import { z } from 'zod';

export default createSync({
  description: 'People of the account',
  frequency: 'every hour',
  models: { Person: z.object({ id: z.string() }) },
  exec: async (svc) => {
    await svc.batchSave([{ ${field}: '1' }], 'Person');
  },
});
`;

/** The client of the protocol refuses a result that does not fit the tool's own schema. */
describe('results fit the schemas of their tools', () => {
  it('of functions, runs and logs', async () => {
    const [first] = itemsOf(await agent.call('list_functions', { uniqueKey: 'crm', type: 'sync' }));
    const named = { uniqueKey: 'crm', name: first?.['name'] ?? '' };
    await agent.call('get_function', named);
    const { code } = await agent.call('get_function_code', named);
    expect(code).toContain('createSync');
    const [run] = itemsOf(await agent.call('list_runs', { connection_id: crm.id, limit: 1 }));
    expect(run).toMatchObject({ status: 'succeeded' });
    await agent.call('get_run', { id: run?.['id'] ?? '' });
    const operations = await agent.call('list_log_operations', { connections: [crm.id] });
    const [operation] = itemsOf(operations);
    await agent.call('list_log_messages', { operationId: operation?.['id'] ?? '' });
  });

  it('of records and SQL', async () => {
    const model = 'Contact';
    await agent.call('list_records', { ...names, model });
    const history = await agent.call('get_record_history', { ...names, model, id: 'c-1' });
    expect(itemsOf(history, 'changes')).toHaveLength(1);
    await agent.call('list_sql_views');
    await agent.call('run_sql', { query: 'SELECT 1 AS one' });
  });

  it('of integrations and connections', async () => {
    const link = await agent.call('create_reconnect_link', {
      connection_id: crm.id,
      integration_id: 'crm',
      end_user: { id: 'ada' },
    });
    expect(JSON.stringify(link)).toContain('/connect/ui/');
    await agent.call('set_connection_metadata', { ...names, metadata: { team: 'a' } });
    await agent.call('update_integration', { uniqueKey: 'crm', display_name: 'The CRM' });
  });

  it('of syncs and actions', async () => {
    const selected = { ...names, syncs: ['contacts'] };
    await agent.call('pause_sync', selected);
    await agent.call('start_sync', selected);
    await agent.call('trigger_sync', selected);
    const status = await agent.call('get_sync_status', { ...names, syncs: 'contacts' });
    expect(itemsOf(status, 'syncs')).toHaveLength(1);
    const output = await agent.call('run_action', { ...names, action_name: 'echo', input: [1] });
    expect(output).toEqual({ result: [1] });
  });
});

describe('a function of an agent', () => {
  it('is refused by the line that does not compile, then run dry and deployed', async () => {
    expect(await agent.refusal('compile_function', { code: codeWith('name') })).toMatchObject({
      code: 'compilation_error',
      message: expect.stringMatching(/9/) as string,
    });
    const code = codeWith('id');
    const compiled = await agent.call('compile_function', { code });
    expect(Object.keys(compiled).sort()).toEqual(['bundle_size_bytes', 'compiled_at']);
    const target = { integration_id: 'crm', function_type: 'sync', code };
    const started = await agent.call('start_dry_run', { ...target, connection_id: crm.id });
    const dry = await ended('get_dry_run', idOf(started));
    expect(dry).toMatchObject({ status: 'success' });
    expect(JSON.stringify(dry['result'])).toContain('"id":"1"');
    const body = { type: 'function', ...target, function_name: 'people' };
    const queued = await agent.call('deploy_function', { body });
    expect(await ended('get_deployment', idOf(queued))).toMatchObject({ deployed: true });
  });
});

describe('pages for agents', () => {
  it.each([
    ['/docs/agents/SKILL.md', 'text/markdown', 'name: svc'],
    ['/docs/llms.txt', 'text/plain', 'agents/SKILL.md'],
    ['/docs/reference/functions.md', 'text/markdown', '# '],
    ['/docs/agents/', 'text/html', 'SKILL.md'],
    ['/llms.txt', 'text/plain', '/mcp/management'],
  ])('%s is served', async (path, type, text) => {
    const answer = await fetch(world.gateway.url + path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain(type);
    expect(await answer.text()).toContain(text);
  });
});
