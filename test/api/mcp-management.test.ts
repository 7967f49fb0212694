import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolDefinitions } from '#api/mcp/management/tools.ts';
import { routes } from '#api/routes.ts';
import { isWriting } from '#http/pipeline.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { openManagementClient, type ManagementClient } from '#test/support/worlds/agent.ts';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
let crm: CrmConnection;
let reader: ManagementClient;
let writer: ManagementClient;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  crm = await world.connect();
  reader = await openManagementClient(world.gateway);
  writer = await openManagementClient(world.gateway, { mayWrite: true, name: 'write\nr' });
});
afterAll(async () => {
  await reader[Symbol.asyncDispose]();
  await writer[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const writing = new Set(
  routes.filter((route) => isWriting(route)).map(({ method, path }) => `${method} ${path}`),
);
const names = (isWrite: boolean): string[] =>
  toolDefinitions
    .filter(({ endpoint }) => writing.has(endpoint) === isWrite)
    .map((one) => one.name);
const offered = async ({ client }: ManagementClient) => (await client.listTools()).tools;

/** A client with a key of the scopes. */
async function withScopes(...scopes: readonly string[]): Promise<ManagementClient> {
  const body = {
    environment_id: world.environmentId,
    display_name: `agent ${scopes.join(' ')}`,
    scopes: ['environment:mcp', ...scopes],
  };
  const key = world.gateway.accountKey;
  const made: unknown = succeeded(
    await world.gateway.call('POST', '/environment/api-keys', { key, body }),
  );
  const { secret } = (made as { readonly data: { readonly secret: string } }).data;
  return openManagementClient({ url: world.gateway.url, key: secret }, { mayWrite: true });
}

const post = (body: object, headers: Readonly<Record<string, string>> = {}, key?: string) =>
  world.gateway.call('POST', '/mcp/management', {
    body,
    headers,
    ...(key === undefined ? {} : { key }),
  });
const initialize = (clientInfo: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
});
const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

describe('the tools', () => {
  it('are operations of the API, each with whole schemas and hints', async () => {
    const tools = await offered(writer);
    expect(tools.map(({ name }) => name)).toEqual(toolDefinitions.map(({ name }) => name));
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      expect(inputSchema.type, name).toBe('object');
      expect(outputSchema?.type, name).toBe('object');
      expect(description, name).toContain('Needs an environment key');
      expect(annotations?.readOnlyHint, name).toBe(names(false).includes(name));
      for (const schema of [inputSchema, outputSchema] as Record<string, unknown>[]) {
        const text = JSON.stringify(schema);
        const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, found = '']) => found);
        for (const reference of references) {
          const found = /^#\/\$defs\/(.+)$/.exec(reference)?.[1] ?? '';
          expect(schema['$defs'], `${name} ${reference}`).toHaveProperty(found);
        }
      }
    }
  });

  it('name each other, not operations', async () => {
    const { tools } = await writer.client.listTools();
    const deploy = tools.find(({ name }) => name === 'deploy_function');
    expect(JSON.stringify(deploy)).toContain('get_deployment');
    for (const { name, description = '' } of tools) {
      for (const { endpoint } of toolDefinitions) {
        expect(description.split(/[`\s,.]/), name).not.toContain(endpoint);
      }
    }
  });

  it('only read unless the client asks for more', async () => {
    expect((await offered(reader)).map(({ name }) => name)).toEqual(names(false));
    const body = { provider: 'crm', unique_key: 'made-by-a-reader' };
    expect(await reader.refusal('create_integration', body)).toMatchObject({
      code: 'forbidden',
      fix: expect.stringContaining('?write=true') as string,
    });
    const shown = await world.gateway.call('GET', '/integrations/made-by-a-reader');
    expect(shown.status).toBe(404);
  });

  it('are those whose scope the key has, and no other can be called', async () => {
    await using limited = await withScopes('environment:records:read');
    const free = toolDefinitions.filter(({ endpoint }) => endpoint.startsWith('GET /providers'));
    const expected = [...free.map(({ name }) => name), 'list_records', 'get_record_history'];
    const tools = await offered(limited);
    expect(tools.map(({ name }) => name).sort()).toEqual(expected.sort());
    expect(await limited.refusal('list_runs')).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('environment:logs:read') as string,
    });
  });
});

describe('a call of a tool', () => {
  it('answers as its operation does', async () => {
    await crm.run('contacts');
    const page = await reader.call('list_records', {
      model: 'Contact',
      provider_config_key: 'crm',
      connection_id: crm.id,
      limit: 1,
    });
    const shown: unknown = await crm.records('Contact', { limit: '1' });
    expect(page).toEqual(shown);
    const { content } = await reader.client.callTool({
      name: 'get_integration',
      arguments: { uniqueKey: 'crm' },
    });
    expect(JSON.stringify(content)).toContain('Next: Call list_connections');
  });

  it('gets of the catalog what an agent chooses by', async () => {
    const { data } = await reader.call('find_providers', { search: 'hubspot' });
    const fields = ['name', 'display_name', 'categories', 'auth_mode', 'docs'];
    for (const one of data as readonly JsonObject[]) expect(Object.keys(one)).toEqual(fields);
    const [template] = (await reader.call('list_templates', { provider: 'hubspot' }))[
      'data'
    ] as readonly JsonObject[];
    expect(template).toMatchObject({ provider: 'hubspot' });
    expect(template).not.toHaveProperty('json_schema');
  });

  it('explains a failed run by its place, cause and fix', async () => {
    const failed = await writer.refusal('run_action', {
      action_name: 'request',
      input: { endpoint: '/nowhere' },
      provider_config_key: 'crm',
      connection_id: crm.id,
    });
    const { run_id: runId = '' } = failed;
    const run = await eventually(
      () => reader.call('get_run', { id: runId }),
      ({ data }) => (data as JsonObject)['status'] === 'failed',
    );
    expect(run['data']).toMatchObject({
      error: {
        fix: expect.any(String) as string,
        location: expect.stringContaining('request.ts') as string,
      },
      failure: { call: { status: 404 }, excerpt: { lines: expect.any(Array) as string[] } },
    });
  });

  it('shows no secret of a connection or an integration', async () => {
    const named = { provider_config_key: 'crm', connectionId: crm.id };
    const shown = await Promise.all([
      reader.call('list_connections'),
      reader.call('list_integrations'),
      reader.call('get_connection', named),
      reader.call('get_integration', { uniqueKey: 'crm' }),
    ]);
    const { credentials } = (await crm.shown()) as { readonly credentials: { apiKey: string } };
    expect(credentials.apiKey.length).toBeGreaterThan(8);
    expect(JSON.stringify(shown)).not.toContain(credentials.apiKey);
    expect(await reader.refusal('get_connection', { ...named, refresh_token: true })).toMatchObject(
      { message: expect.stringContaining('no argument "refresh_token"') as string },
    );
  });

  it('is refused with what is wrong and what helps', async () => {
    expect(await reader.refusal('list_rums')).toMatchObject({
      code: 'not_found',
      fix: expect.stringContaining('list_runs') as string,
    });
    expect(await reader.refusal('list_runs', { statuses: ['failed'] })).toMatchObject({
      message: expect.stringMatching(/no argument "statuses"\. Allowed: .*status/) as string,
    });
    expect(await reader.refusal('get_run', {})).toMatchObject({ code: 'invalid_uri_params' });
    expect(await reader.refusal('get_template', { provider: 'x', name: 'y' })).toMatchObject({
      fix: expect.stringContaining('find_providers') as string,
    });
    let deep: JsonObject = {};
    for (let level = 0; level < 50; level++) deep = { deep };
    const body = { type: 'template', integration_id: 'crm', template: deep };
    expect(await writer.refusal('deploy_function', { body })).toMatchObject({
      code: 'invalid_body',
    });
  });

  it('is in the audit trail with the name of the agent', async () => {
    const code = "export default 'nothing';";
    await writer.client.callTool({ name: 'compile_function', arguments: { code } });
    await writer.call('list_functions', { uniqueKey: 'crm' });
    const created = { provider: 'crm', unique_key: `made-${crm.id}` };
    await writer.call('create_integration', created);
    const { gateway } = world;
    const key = gateway.accountKey;
    const expected = [
      ['mcp.call', 'POST /functions/compile'],
      ['mcp.call', 'GET /integrations/{uniqueKey}/functions crm'],
      ['integrations.create', created.unique_key],
    ];
    const seen = async (): Promise<string[]> => {
      const body: unknown = succeeded(await gateway.call('GET', '/audit?limit=100', { key }));
      const { data } = body as { readonly data: readonly JsonObject[] };
      return data
        .filter(({ details }) => (details as JsonObject | null)?.['agent'] === 'write?r/1.0.0')
        .map(({ action, target }) => JSON.stringify([action, target]));
    };
    const isThere = (events: readonly string[]): boolean =>
      expected.every((event) => events.includes(JSON.stringify(event)));
    expect(isThere(await eventually(seen, isThere))).toBe(true);
  });
});

describe('a session', () => {
  it('is required, bound to its key, and cannot be forged', async () => {
    expect(await post(list)).toMatchObject({ status: 400, body: { jsonrpc: '2.0' } });
    const begun = await post(initialize({ name: 'a', version: '1' }));
    const id = begun.headers.get('mcp-session-id') ?? '';
    expect((await post(list, { 'mcp-session-id': id })).status).toBe(200);
    const [text = '', signature = ''] = id.split('.');
    const other = Buffer.from(
      Buffer.from(text, 'base64url').toString().replace('"a/1"', '"b/1"'),
    ).toString('base64url');
    const forged = ['', 'x', '.', text, `${other}.${signature}`, `${text}.${'0'.repeat(64)}`];
    for (const one of forged.filter((sent) => sent !== '')) {
      const answer = await post(list, { 'mcp-session-id': one });
      expect(answer, one).toMatchObject({ status: 404, body: { error: { code: -32_001 } } });
    }
    const stolen = await post(list, { 'mcp-session-id': id }, world.gateway.prodKey);
    expect(stolen.status).toBe(404);
  });

  it('takes one message of the protocol at a time', async () => {
    const { headers } = await post(initialize({ name: 'a', version: '1' }));
    const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
    const notified = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect((await post(notified, session)).status).toBe(202);
    expect((await post({ hello: 'there' }, session)).status).toBe(400);
    const batch = await post([list, list], session);
    expect(batch).toMatchObject({ status: 400, body: { error: { code: 'invalid_body' } } });
    const stream = await world.gateway.call('GET', '/mcp/management');
    expect(stream.status).toBe(405);
  });

  it('of another environment sees nothing of this one', async () => {
    const { url, prodKey: key } = world.gateway;
    await using other = await openManagementClient({ url, key });
    const named = { provider_config_key: 'crm', connectionId: crm.id };
    const refused = await other.client.callTool({ name: 'get_connection', arguments: named });
    expect(refused.isError).toBe(true);
  });
});
