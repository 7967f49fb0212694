/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment -- a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '#test/support/processes/gateway.ts';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
let crm: CrmConnection;
let cursor: string;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  crm = await world.connect();
  crm.account.contacts = [{ id: 'c-1', name: 'Ann' }];
  await crm.run('contacts');
  const [first] = await crm.all('Contact');
  cursor = first!._svc_metadata.cursor;
});
afterAll(() => world[Symbol.asyncDispose]());

const get = (path: string, query: Readonly<Record<string, string>>, connection = crm) => {
  const search = new URLSearchParams(query).toString();
  return world.gateway.call('GET', `${path}?${search}`, { headers: connection.headers });
};
const prune = (model: string, connection = crm) =>
  world.gateway.call('PATCH', '/records/prune', {
    headers: connection.headers,
    body: { model, until_cursor: cursor, limit: 1 },
  });

/** Every operation that takes the name of a model, with what it answers for one that has no records. */
const operations: readonly [
  string,
  number | string,
  (model: string, of?: CrmConnection) => Promise<Answer>,
][] = [
  ['a page', 200, (model, of) => get('/records', { model }, of)],
  ['a page after a cursor', 200, (model, of) => get('/records', { model, cursor }, of)],
  ['a page of a variant', 200, (model, of) => get('/records', { model, variant: 'eu' }, of)],
  ['a page with a filter', 200, (model, of) => get('/records', { model, filter: 'added' }, of)],
  ['records by id', 200, (model, of) => get('/records', { model, ids: 'c-1' }, of)],
  [
    'a page as of a time',
    200,
    (model, of) => get('/records', { model, as_of: new Date().toISOString() }, of),
  ],
  [
    'the history of a record',
    404,
    (model, of) => get('/records/history', { model, id: 'c-1' }, of),
  ],
  ['a prune', 200, prune],
];

const issueOf = ({ status, body }: Answer) => ({
  status,
  code: body.error.code,
  path: body.error.errors[0].path,
  message: body.error.errors[0].message,
});

describe('a model that no function declares and no stream has', () => {
  it.each(operations)('refuses %s, and lists the models', async (what, _status, call) => {
    expect(issueOf(await call('Contcat'))).toEqual({
      status: 400,
      code: what === 'a prune' ? 'invalid_body' : 'invalid_query_params',
      path: ['model'],
      message: expect.stringMatching(
        /^No function of the integration "crm" declares the model "Contcat".* It declares .*\bContact\b.* Did you mean "Contact"\?$/,
      ),
    });
  });

  it('refuses a stream of changes before it begins', async () => {
    const refused = await get('/records/stream', { model: 'Contcat' });
    expect(issueOf(refused)).toMatchObject({ status: 400, code: 'invalid_query_params' });
  });

  it('names none where none is near', async () => {
    const { message } = issueOf(await get('/records', { model: 'Xylophone' }));
    expect(message).not.toContain('Did you mean');
    expect(message).toContain('Contact');
  });

  it('refuses first what else is wrong', async () => {
    const unknown = await world.gateway.call('GET', '/records?model=Contcat', {
      headers: { ...crm.headers, 'connection-id': 'nobody' },
    });
    expect(unknown.body.error.code).toBe('unknown_connection');
    const bad = await get('/records', { model: 'Contcat', cursor: 'x' });
    expect(bad.body.error.code).toBe('invalid_cursor_value');
  });
});

describe('a declared model', () => {
  it.each(operations)(
    'of a connection without records answers %s as before: %s',
    async (_what, status, call) => {
      const fresh = await world.connect();
      expect((await call('Item', fresh)).status).toBe(status);
    },
  );

  it('counts from the end of its deployment on, whatever was asked before', async () => {
    const { gateway } = world;
    const path = '/records?model=Harbor';
    expect((await gateway.call('GET', path, { headers: crm.headers })).status).toBe(400);
    const code = `import { createSync } from 'svc';
import { z } from 'zod';
export default createSync({
  description: 'Harbors',
  frequency: 'every day',
  autoStart: false,
  models: { Harbor: z.object({ id: z.string() }) },
  exec: async (svc) => {
    await svc.batchSave([{ id: 'h-1' }], 'Harbor');
  },
});
`;
    const order = {
      type: 'function',
      integration_id: 'crm',
      function_name: 'harbors',
      function_type: 'sync',
      code,
    };
    const deployed = await gateway.call('POST', '/functions/deployments', { body: order });
    const { id } = succeeded(deployed);
    await eventually(
      () => gateway.call('GET', `/functions/deployments/${id as string}`),
      ({ body }) => body.status === 'success' || body.status === 'failed',
    );
    expect((await gateway.call('GET', path, { headers: crm.headers })).body).toEqual({
      records: [],
      next_cursor: null,
    });
  });
});
