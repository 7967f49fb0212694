import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { openManagementClient, textOf } from '#test/support/worlds/agent.ts';
import { openFakedTemplates, type FakedTemplates } from '#test/support/worlds/faked-templates.ts';

let faked: FakedTemplates;
beforeAll(async () => {
  faked = await openFakedTemplates('hubspot');
});
afterAll(() => faked[Symbol.asyncDispose]());

const callsMax = 20;
/** What the person says, and gives when they are asked. */
const wish = { provider: 'HubSpot', objects: 'contacts' };

/** Knows no name, id or tool but those that answers gave. */
interface Agent {
  /** Names of the tools that were called. */
  readonly calls: readonly string[];
  /** @throws Error if no answer has named the tool yet, or a text of the arguments that is not of the person */
  readonly call: (tool: string, args?: JsonObject) => Promise<JsonObject>;
  /** Calls the tool until its result has ended. */
  readonly ended: (
    tool: string,
    args: JsonObject,
    isEnd: (result: JsonObject) => boolean,
  ) => Promise<JsonObject>;
}

/** Texts inside a value, at every depth. */
function textsOf(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((item) => textsOf(item));
}

function agentOf(client: Client, ofPerson: readonly string[]): Agent {
  let read = client.getInstructions() ?? '';
  const calls: string[] = [];
  const agent: Agent = {
    calls,
    async call(tool, args = {}) {
      expect(read, `the tool ${tool} was not named before`).toMatch(new RegExp(`\\b${tool}\\b`));
      for (const text of textsOf(args)) {
        if (ofPerson.includes(text)) continue;
        expect(read, `"${text}" for ${tool} is in no answer`).toContain(text);
      }
      calls.push(tool);
      const result = await client.callTool({ name: tool, arguments: args });
      const text = textOf(result);
      expect(result.isError ?? false, `${tool}: ${text}`).toBe(false);
      read += `\n${text}`;
      return result.structuredContent as JsonObject;
    },
    async ended(tool, args, isEnd) {
      for (;;) {
        const result = await agent.call(tool, args);
        if (isEnd(result)) return result;
        await wait(2_000);
      }
    },
  };
  return agent;
}

const itemsOf = (result: JsonObject, field = 'data'): readonly JsonObject[] =>
  (result[field] ?? []) as readonly JsonObject[];

/** The text of a field; empty without one. */
const textIn = (value: Json | undefined, field: string): string => {
  const text = objectOf(value)[field];
  return typeof text === 'string' ? text : '';
};

/** The person opens the link and consents at the provider. */
async function consent(link: string, integrationKey: string): Promise<void> {
  const { origin, searchParams } = new URL(link);
  const token = searchParams.get('session_token') ?? '';
  const query = new URLSearchParams({ connect_session_token: token }).toString();
  const manual = { redirect: 'manual' } as const;
  const begun = await fetch(`${origin}/oauth/connect/${integrationKey}?${query}`, manual);
  const cookie = (begun.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  const atProvider = await fetch(begun.headers.get('location') ?? '', manual);
  const back = atProvider.headers.get('location') ?? '';
  expect((await fetch(back, { ...manual, headers: { cookie } })).status).toBe(200);
}

interface Choice {
  readonly provider: string;
  readonly authMode: string;
  readonly template: string;
  readonly scopes: readonly string[];
  readonly model: string;
}

async function choose({ call }: Agent): Promise<Choice> {
  const search = wish.provider.toLowerCase();
  const found = itemsOf(await call('find_providers', { search }));
  const one = found.find((entry) => entry['display_name'] === wish.provider);
  const provider = textIn(one, 'name');
  const shown = (await call('get_provider', { provider }))['data'];
  expect(textIn(shown, 'callback_url')).toMatch(/\/oauth\/callback$/);
  const templates = itemsOf(await call('list_templates', { provider }));
  const template = templates.find(({ type, name }) => type === 'sync' && name === wish.objects);
  const { scopes = [], returns = [] } = template ?? {};
  return {
    provider,
    authMode: textIn(shown, 'auth_mode'),
    template: textIn(template, 'name'),
    scopes: scopes as readonly string[],
    model: (returns as readonly string[])[0] ?? '',
  };
}

interface App {
  readonly client_id: string;
  readonly client_secret: string;
}

/** Resolves with the names of the connection. */
async function connect({ call }: Agent, choice: Choice, app: App): Promise<JsonObject> {
  expect(itemsOf(await call('list_integrations'))).toEqual([]);
  const { provider, authMode: type, scopes } = choice;
  const credentials = { type, ...app, scopes: scopes.join(',') };
  const created = await call('create_integration', { provider, unique_key: provider, credentials });
  const integration = textIn(created['data'], 'unique_key');
  const link = await call('create_connect_link', {
    end_user: { id: 'ada', email: 'ada@acme.com' },
    allowed_integrations: [integration],
  });
  await consent(textIn(link['data'], 'connect_link'), integration);
  const [connection] = itemsOf(await call('list_connections'), 'connections');
  return {
    provider_config_key: textIn(connection, 'provider_config_key'),
    connection_id: textIn(connection, 'connection_id'),
  };
}

/** Resolves once the first run of the sync has succeeded. */
async function deploy({ call, ended }: Agent, { template }: Choice, names: JsonObject) {
  const body = { type: 'template', integration_id: names['provider_config_key'] ?? '', template };
  const id = textIn(await call('deploy_function', { body }), 'id');
  const isOver = (result: JsonObject): boolean =>
    ['success', 'failed'].includes(textIn(result, 'status'));
  const deployed = await ended('get_deployment', { id }, isOver);
  expect(deployed).toMatchObject({ status: 'success' });
  const syncs = textIn(deployed, 'function_name');
  await ended('get_sync_status', { ...names, syncs }, (status) =>
    itemsOf(status, 'syncs').some((sync) => sync['status'] === 'SUCCESS'),
  );
}

describe('an agent with the MCP endpoint alone', () => {
  it('goes from a wish to records, each call by what the answers said', async () => {
    await using opened = await openManagementClient(faked.gateway, { mayWrite: true });
    const { integration } = faked.fake.played;
    const app = {
      client_id: textIn(integration ?? null, 'client_id'),
      client_secret: textIn(integration ?? null, 'client_secret'),
    };
    const ofPerson = [wish.provider.toLowerCase(), ...Object.values(app), 'ada', 'ada@acme.com'];
    const agent = agentOf(opened.client, ofPerson);
    const choice = await choose(agent);
    const names = await connect(agent, choice, app);
    await deploy(agent, choice, names);
    const page = await agent.call('list_records', { model: choice.model, ...names });

    const records = itemsOf(page, 'records');
    expect(records.length).toBeGreaterThan(2);
    expect(records[0]).toHaveProperty('id');
    expect(agent.calls.length).toBeLessThanOrEqual(callsMax);
  });
});
