import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAnswer } from '#test/support/judges/answers.ts';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
let crm: CrmConnection;
let client: Client;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  crm = await world.connect();
  client = await connected(crm.headers);
});
afterAll(async () => {
  await client.close();
  await world[Symbol.asyncDispose]();
});

/** A client of the protocol's own library, each of whose answers is held against the document. */
async function connected(named: Readonly<Record<string, string>>): Promise<Client> {
  const { url, key } = world.gateway;
  const made = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { ...named, authorization: `Bearer ${key}` } },
    fetch: async (address, init) => {
      const answer = await fetch(address, init);
      const { status, headers } = answer;
      const text = await answer.clone().text();
      checkAnswer(init?.method ?? 'GET', String(address), { status, headers, text });
      return answer;
    },
  });
  await made.connect(transport);
  return made;
}

/** The error that a result of a call holds as text. */
function refusalOf({ content }: Awaited<ReturnType<Client['callTool']>>): unknown {
  const [{ text }] = content as [{ text: string }];
  return JSON.parse(text);
}

const ask = (body: object, headers: Readonly<Record<string, string>> = crm.headers) =>
  world.gateway.call('POST', '/mcp', { body, headers });

describe('MCP', () => {
  it('lists the actions of the integration with what they take', async () => {
    const { tools } = await client.listTools();
    const echo = tools.find(({ name }) => name === 'inspect');
    expect(echo).toMatchObject({ inputSchema: { type: 'object' } });
    expect(tools.map(({ name }) => name)).not.toContain('contacts');
    for (const { inputSchema } of tools) expect(inputSchema.type).toBe('object');
    const request = tools.find(({ name }) => name === 'request');
    expect(request?.inputSchema).toMatchObject({
      required: ['endpoint'],
      additionalProperties: false,
    });
  });

  it('runs a tool as the action that it is', async () => {
    const { content } = await client.callTool({ name: 'inspect' });
    const [{ text }] = content as [{ text: string }];
    const { body } = (await crm.action('inspect')) as { body: unknown };
    expect(JSON.parse(text)).toEqual(body);
  });

  it('answers an unknown tool, and a failed action, by results that say so', async () => {
    const unknown = await client.callTool({ name: 'nothing' });
    expect(unknown).toMatchObject({ isError: true });
    expect(refusalOf(unknown)).toMatchObject({ code: 'not_found' });
    const failed = await client.callTool({ name: 'request', arguments: { endpoint: '/nowhere' } });
    expect(failed).toMatchObject({ isError: true });
    const { body } = (await crm.action('request', { endpoint: '/nowhere' })) as {
      body: { error: { code: string; message: string } };
    };
    const { code, message } = body.error;
    expect(refusalOf(failed)).toMatchObject({ code, message });
  });

  it('refuses arguments that the input schema does not take, before anything is called', async () => {
    const calls = () => crm.account.asked.length;
    const before = calls();
    const wrong: readonly (readonly [Record<string, unknown> | undefined, string])[] = [
      [{ endpoint: '/contacts', retries: 'x' }, 'retries: expected number, got string'],
      [{}, 'endpoint: required, expected string'],
      [undefined, 'endpoint: required, expected string'],
      [{ endpoint: '/contacts', retry: 1 }, 'retry: unknown field, allowed: endpoint, retries'],
    ];
    for (const [input, problem] of wrong) {
      const answer = await client.callTool({ name: 'request', arguments: input });
      const text = `Invalid arguments of "request": ${problem}`;
      expect(answer).toEqual({ isError: true, content: [{ type: 'text', text }] });
    }
    expect(calls()).toBe(before);
  });

  it('refuses a connection that is not there, and a request that names none', async () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const unknown = await ask(list, { ...crm.headers, 'connection-id': 'nobody' });
    expect(unknown).toMatchObject({ status: 400, body: { error: { code: 'unknown_connection' } } });
    const unnamed = await ask(list, {});
    expect(unnamed).toMatchObject({ status: 400, body: { error: { code: 'invalid_headers' } } });
  });

  it('has no stream, and refuses what is not of the protocol', async () => {
    const stream = await world.gateway.call('GET', '/mcp', { headers: crm.headers });
    expect(stream).toMatchObject({
      status: 405,
      body: { jsonrpc: '2.0', error: { code: -32_000, message: 'Method not allowed.' }, id: null },
    });
    expect(await ask({ hello: 'there' })).toMatchObject({ status: 400, body: { jsonrpc: '2.0' } });
    const notified = await ask({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(notified.status).toBe(202);
  });

  it('offers the records of the connection and the definition of its provider', async () => {
    await crm.run('contacts');
    const { resources } = await client.listResources();
    const uris = resources.map(({ uri }) => uri);
    expect(uris).toEqual(expect.arrayContaining(['svc://provider', 'svc://records/Contact']));
    const read = async (uri: string): Promise<unknown> => {
      const { contents } = await client.readResource({ uri });
      return JSON.parse((contents[0] as { readonly text: string }).text);
    };
    expect(await read('svc://records/Contact')).toEqual(await crm.records('Contact'));
    const page = await read('svc://records/Contact?limit=1');
    expect(page).toEqual(await crm.records('Contact', { limit: '1' }));
    expect(await read('svc://provider')).toMatchObject({ data: { name: 'crm' } });
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates[0]?.uriTemplate).toContain('cursor');
    for (const uri of ['svc://records/Nothing', 'svc://records/Contact?wrong=1', 'file:///etc']) {
      await expect(client.readResource({ uri }), uri).rejects.toThrow();
    }
  });

  it('names the client of a session in the audit trail, and refuses a forged session', async () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const forged = { ...crm.headers, 'mcp-session-id': 'e30.0' };
    expect(await ask(list, forged)).toMatchObject({ status: 404, body: { jsonrpc: '2.0' } });
    await client.callTool({ name: 'inspect' });
    const { accountKey: key } = world.gateway;
    const path = '/audit?action=mcp.call&limit=100';
    const target = `POST /mcp crm/${crm.id} inspect`;
    const event = await eventually(
      async () => {
        const body: unknown = succeeded(await world.gateway.call('GET', path, { key }));
        const { data } = body as { readonly data: readonly { readonly target: string }[] };
        return data.find((one) => one.target === target);
      },
      (found) => found !== undefined,
    );
    expect(event).toMatchObject({ outcome: 'success', details: { agent: 'test/1.0.0' } });
  });

  it('shows another environment neither tools nor records', async () => {
    const { prodKey: key } = world.gateway;
    const { headers } = crm;
    for (const method of ['tools/list', 'resources/list']) {
      const body = { jsonrpc: '2.0', id: 1, method };
      const answer = await world.gateway.call('POST', '/mcp', { body, headers, key });
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { code: 'unknown_connection' } },
      });
    }
  });
});
