import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, listTools, toolPage, type ToolCaller } from '#api/mcp/server.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import {
  anAction,
  openFunctionsWorld,
  type FunctionsWorld,
} from '#test/support/worlds/functions-api.ts';

let world: FunctionsWorld;
let caller: ToolCaller;
/** Inputs of the runs that were asked for. */
const called: unknown[] = [];

beforeAll(async () => {
  world = await openFunctionsWorld();
  const api = await world.api();
  const definitions = {
    Person: {
      type: 'object',
      properties: { name: { type: 'string' }, manager: { $ref: '#/definitions/Person' } },
      required: ['name'],
    },
    In: {
      type: 'object',
      properties: { person: { $ref: '#/definitions/Person' } },
      required: ['person'],
    },
  };
  await api.deploy([anAction('hire', { models_json_schema: { definitions } })]);
  const { connection } = (await api.connect('acme')) as { connection: Connection };
  const runs = {
    triggerAction: async ({ input }: { input?: unknown }) => {
      called.push(input);
      return { hired: true };
    },
  };
  const services = { control: api.node.control, runs } as unknown as ToolCaller['services'];
  caller = { services, connection, actor: 'key:k', signal: new AbortController().signal };
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

describe('a tool whose input refers to a definition', () => {
  it('is listed with a schema in which every reference leads to a definition', () => {
    const [tool] = listTools(caller);
    expect(tool).toMatchObject({
      name: 'hire',
      inputSchema: { type: 'object', required: ['person'] },
    });
    const schema = tool?.inputSchema as Record<string, unknown>;
    const text = JSON.stringify(schema);
    const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(references.length).toBeGreaterThan(0);
    for (const path of references) {
      const found = path
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], schema);
      expect(found, path).toBeDefined();
    }
  });

  it.each([
    [undefined, 'person: required'],
    [{}, 'person: required'],
    [{ person: {} }, 'person.name: required'],
    [{ person: { name: 'Ada', manager: { name: 1 } } }, 'person.manager.name: expected string'],
  ])('refuses %j before anything is called', async (input, problem) => {
    const result = await callTool(caller, 'hire', input);
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result.content)).toContain(problem);
    expect(called).toEqual([]);
  });

  it('is called with what the schema takes', async () => {
    const person = { name: 'Ada', manager: { name: 'Grace' } };
    const result = await callTool(caller, 'hire', { person });
    expect(result).toEqual({
      content: [{ type: 'text', text: '{"hired":true}' }],
      structuredContent: { hired: true },
    });
    expect(called).toEqual([{ person }]);
  });
});

describe('pages of tools', () => {
  const tools = Array.from({ length: 10_000 }, (_, at) => ({
    name: `tool-${at}`,
    inputSchema: { type: 'object' as const },
  }));

  it('have each of 10,000 tools once', () => {
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = toolPage(tools, cursor);
      expect(page.tools.length).toBeLessThanOrEqual(500);
      names.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(names).toEqual(tools.map(({ name }) => name));
  });

  it('refuse a cursor of no tool', () => {
    expect(() => toolPage(tools, 'forged')).toThrow('The cursor is not valid');
  });
});
