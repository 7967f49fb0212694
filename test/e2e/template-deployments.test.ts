/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment -- a test looks into any answer */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer as Shown, Template } from '#client/index.ts';
import type { Answer } from '#test/support/processes/gateway.ts';
import {
  openSharedCrmWorld,
  succeeded,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { openFakedTemplates, type FakedTemplates } from '#test/support/worlds/faked-templates.ts';

let world: SharedCrmWorld;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  const credentials = { type: 'OAUTH2', client_id: 'id', client_secret: 'secret' };
  const body = { provider: 'hubspot', unique_key: 'hubspot-eu', credentials };
  succeeded(await call('POST', '/integrations', body));
});
afterAll(() => world[Symbol.asyncDispose]());

const call = (method: string, path: string, body?: object): Promise<Answer> =>
  world.gateway.call(method, path, body === undefined ? {} : { body });
const listed = async (provider: string): Promise<readonly Template[]> => {
  const body: unknown = succeeded(await call('GET', `/providers/${provider}/templates`));
  return (body as Shown<'GET /providers/{provider}/templates'>).data;
};
const codeOf = ({ status, body }: Answer): string => `${status} ${body?.error?.code ?? ''}`;

const order = (template: string, more: object = {}) => ({
  type: 'template',
  integration_id: 'hubspot-eu',
  template,
  ...more,
});

/** The deployment when it has ended. */
async function deployed(body: object): Promise<Answer['body']> {
  const queued = succeeded(await call('POST', '/functions/deployments', body));
  for (;;) {
    const shown = succeeded(await call('GET', `/functions/deployments/${queued.id}`));
    if (shown.status === 'success' || shown.status === 'failed') return shown;
    await wait(100);
  }
}

describe('the templates of a provider', () => {
  it('are listed with what they save and need', async () => {
    const templates = await listed('hubspot');
    expect(templates.map(({ type, name }) => `${type} ${name}`)).toEqual(
      expect.arrayContaining(['sync contacts', 'action create-contact', 'on-event check-access']),
    );
    const contacts = templates.find(({ name }) => name === 'contacts');
    expect(contacts).toMatchObject({
      type: 'sync',
      provider: 'hubspot',
      scopes: ['crm.objects.contacts.read'],
      metadata: null,
      returns: ['Contact'],
      json_schema: { definitions: { Contact: { properties: { emails: { type: 'array' } } } } },
      runs: 'every hour',
      auto_start: true,
      incremental: true,
      deletions: 'every_run',
    });
    expect(contacts).not.toHaveProperty('files');
  });

  it('name the metadata of a connection', async () => {
    expect((await listed('github')).find(({ name }) => name === 'issues')).toMatchObject({
      metadata: { properties: { repository: { type: 'string' } } },
      deletions: 'runs_from_start',
    });
  });

  it('are shown with their files, the function first', async () => {
    const shown = succeeded(await call('GET', '/providers/hubspot/templates/contacts'));
    const { files } = (shown as Shown<'GET /providers/{provider}/templates/{name}'>).data;
    expect(files[0]?.path).toBe('hubspot/syncs/contacts.ts');
    expect(files[0]?.content).toContain('createSync({');
    expect(files.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'hubspot/contact.ts',
        'models/crm.ts',
        'hubspot/tests/contacts.test.ts',
      ]),
    );
  });

  it.each([
    ['/providers/nowhere/templates', '404 not_found'],
    ['/providers/nowhere/templates/contacts', '404 not_found'],
    ['/providers/hubspot/templates/nothing', '404 template_not_found'],
    ['/providers/crm/templates/contacts', '404 template_not_found'],
  ])('%s: %s', async (path, expected) => {
    expect(codeOf(await call('GET', path))).toBe(expected);
  });

  it('are none of a provider without', async () => {
    expect(succeeded(await call('GET', '/providers/crm/templates'))).toEqual({ data: [] });
  });
});

describe('a template is deployed', () => {
  it.each([
    ['contacts', 'sync'],
    ['create-contact', 'action'],
    ['check-access', 'on-event'],
  ])('%s as a function on its own, and is deleted', async (name, type) => {
    const shown: unknown = succeeded(await call('GET', `/providers/hubspot/templates/${name}`));
    const { files } = (shown as Shown<'GET /providers/{provider}/templates/{name}'>).data;
    const [, version] = /\bversion: '([^']+)'/.exec(files[0]!.content) ?? [];
    expect(version).toBeDefined();
    expect(await deployed(order(name))).toMatchObject({
      status: 'success',
      deployed: true,
      function_name: name,
      function_type: type,
      deployed_functions: [{ name, version }],
    });
    const path = `/integrations/hubspot-eu/functions/${name}?type=${type}`;
    expect(succeeded(await call('GET', path)).data).toMatchObject({ source: 'standalone' });
    succeeded(await call('DELETE', path));
    expect(codeOf(await call('GET', path))).toBe('404 not_found');
  });

  it('but not over the model of another sync, and the deployment names the fix', async () => {
    const code = `import { createSync } from 'svc';
import { z } from 'zod';
export default createSync({
  description: 'People',
  frequency: 'every hour',
  models: { Contact: z.object({ id: z.string() }) },
  exec: async (svc) => {
    await svc.batchSave([{ id: '1' }], 'Contact');
  },
});
`;
    const own = { type: 'function', integration_id: 'hubspot-eu', function_name: 'people' };
    const first = await deployed({ ...own, function_type: 'sync', code });
    expect(first.error ?? null).toBeNull();
    expect(await deployed(order('contacts'))).toMatchObject({
      status: 'failed',
      error: {
        code: 'invalid_body',
        message: expect.stringContaining('"people"') as string,
        fix: expect.stringContaining('Remove one of the two syncs') as string,
      },
    });
  });

  it.each([
    ['an unknown one', order('nothing'), '404 template_not_found'],
    ['of no integration', order('contacts', { integration_id: 'no' }), '404 integration_not_found'],
    ['of another provider', order('contacts', { integration_id: 'crm' }), '404 template_not_found'],
    ['with code', order('contacts', { code: 'x' }), '400 invalid_body'],
  ])('%s is refused', async (_, body, expected) => {
    expect(codeOf(await call('POST', '/functions/deployments', body))).toBe(expected);
  });
});

describe('a deployed template runs', () => {
  let faked: FakedTemplates;
  beforeAll(async () => {
    faked = await openFakedTemplates('hubspot');
  });
  afterAll(() => faked[Symbol.asyncDispose]());

  it('with the modules that it imports, and its failures name their files in a project', async () => {
    const { fake, gateway } = faked;
    const { client } = gateway;
    const { integration: credentials } = fake.played;
    const key = 'crm-eu';
    const body = { provider: 'hubspot', unique_key: key };
    await client.request('POST /integrations', {
      body: credentials === null ? body : { ...body, credentials },
    });
    const names = { provider_config_key: key, connection_id: 'c-1' };
    await client.request('POST /connections', {
      body: { ...names, credentials: fake.played.importable() },
    });
    const queued = await client.request('POST /functions/deployments', {
      body: { type: 'template', integration_id: key, template: 'contacts' },
    });
    const params = { id: queued.id };
    await expect
      .poll(() => client.request('GET /functions/deployments/{id}', { params }))
      .toMatchObject({ status: 'success' });
    const headers = { 'provider-config-key': key, 'connection-id': 'c-1' };
    const latestRun = async () =>
      (await client.request('GET /runs', { query: { ...names, limit: 1 } })).data;
    await expect.poll(latestRun).toMatchObject([{ status: 'succeeded' }]);
    const query = { model: 'Contact' };
    await expect
      .poll(async () => (await client.request('GET /records', { query, headers })).records.length)
      .toBeGreaterThan(2);

    const refused = { type: 'OAUTH2', access_token: 'refused' } as const;
    await client.request('POST /connections', { body: { ...names, credentials: refused } });
    await client.request('POST /sync/trigger', { body: { ...names, syncs: ['contacts'] } });
    await expect.poll(latestRun).toMatchObject([
      {
        status: 'failed',
        error: { location: expect.stringMatching(/^crm-eu\/objects\.ts:/) as string },
      },
    ]);
  });
});
