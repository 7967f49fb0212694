import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventually,
  openSharedCrmWorld,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
beforeAll(async () => {
  world = await openSharedCrmWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** An object as JSON has it; a literal would set its prototype. */
const parsed = (text: string) => JSON.parse(text) as object;
const odd = '{"a":1,"__proto__":{"b":[{"__proto__":2}]}}';

describe('a key __proto__', () => {
  it('is kept in records: saved, merged, listed and read by a function', async () => {
    const crm = await world.connect();
    const row = (fields: string) => parsed(`{"id":"1",${fields}}`);
    crm.account.script = [
      { do: 'save', rows: [row('"__proto__":{"b":1},"deep":{"__proto__":[2]}')] },
      { do: 'update', rows: [row('"__proto__":{"c":3}')] },
      { do: 'read', ids: ['1'] },
    ];
    expect(await crm.run('scripted', { model: 'Item' })).toMatchObject({ success: true });
    const fields = '"__proto__":{"b":1,"c":3},"deep":{"__proto__":[2]}';
    const [record] = await crm.all('Item');
    const { id, _svc_metadata: _, ...plain } = record!;
    expect([id, JSON.stringify(plain)]).toEqual(['1', `{${fields}}`]);
    const read = JSON.stringify(crm.account.results.find(({ step }) => step === 'read')?.result);
    expect(read).toContain(fields);
  });

  it('is kept in metadata that a function sets and merges', async () => {
    const crm = await world.connect();
    crm.account.script = [
      { do: 'setMetadata', metadata: parsed(odd) },
      { do: 'updateMetadata', metadata: parsed('{"c":3,"deep":{"__proto__":4}}') },
      { do: 'metadata' },
    ];
    expect(await crm.run('scripted', { model: 'Item' })).toMatchObject({ success: true });
    const merged = { ...parsed(odd), ...parsed('{"c":3,"deep":{"__proto__":4}}') };
    const { metadata } = (await crm.shown()) as { metadata: object };
    expect(JSON.stringify(metadata)).toBe(JSON.stringify(merged));
    const read = crm.account.results.find(({ step }) => step === 'metadata')?.result;
    expect(JSON.stringify(read)).toBe(JSON.stringify(merged));
    crm.account.script = [{ do: 'updateMetadata', metadata: parsed('{"__proto__":5}') }];
    await crm.run('scripted', { model: 'Item' });
    const shown = (await crm.shown()) as { metadata: object };
    expect(JSON.stringify(shown.metadata)).toContain('"__proto__":5');
  });

  it('is kept in inputs and outputs of actions, and in payloads of their errors', async () => {
    const crm = await world.connect();
    const echoed = await crm.action('echo', parsed(odd));
    expect([echoed.status, JSON.stringify(echoed.body)]).toEqual([200, odd]);
    const queued = await crm.action('echo', parsed(odd), { 'x-async': 'true' });
    const { statusUrl } = queued.body as { statusUrl: string };
    const later = await eventually(
      () => world.gateway.call('GET', statusUrl),
      ({ status }) => status !== 404,
    );
    expect(JSON.stringify(later.body)).toBe(odd);
    const failed = await crm.action('fail', { how: 'action-error', payload: parsed(odd) });
    expect(failed.status).toBe(424);
    expect(JSON.stringify(failed.body)).toContain(odd);
  });

  it('is kept in what a tool of MCP is called with', async () => {
    const crm = await world.connect();
    const params = { name: 'echo', arguments: parsed(odd) };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const answer = await world.gateway.call('POST', '/mcp', { body, headers: crm.headers });
    const { result } = answer.body as { result: { content: { text: string }[] } };
    expect(result.content[0]?.text).toBe(odd);
  });

  it('is refused by its name as a header for the provider', async () => {
    const crm = await world.connect();
    const headers = { ...crm.headers, 'svc-proxy-__proto__': 'x' };
    const refused = await world.gateway.call('GET', '/proxy/contacts', { headers });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain('svc-proxy-__proto__');
  });
});
