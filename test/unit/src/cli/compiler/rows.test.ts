import { beforeAll, describe, expect, it } from 'vitest';
import type { CompileResult } from '#cli/compiler/compile.ts';
import { compile, problemsOf } from '#test/support/worlds/compile.ts';
import { actionText, functionsProject, syncText } from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

/** What functions write that were made for the usual typings, most of it found in public ones. */
const usualTypings = `
const { since } = await svc.getMetadata<{ since?: string }>();
const metadata: Team = await svc.getMetadata();
const { credentials, connection_config: config } = await svc.getConnection();
let user = 'username' in credentials && typeof credentials.username === 'string' ? credentials.username : '';
if (credentials.type === 'API_KEY') user = credentials.apiKey;
if ('access_token' in credentials) user = credentials.access_token;
const { password } = credentials as { username: string; password: string };
const key: string = credentials['apiKey'] ?? credentials.raw['id'];
const token = await svc.getToken();
if (typeof token !== 'string' && 'apiKey' in token && typeof token.apiKey === 'string') user = token.apiKey;
if (typeof token === 'object' && 'username' in token) user = token.username;
const raw = await svc.getRawTokenResponse<{ team: { id: string } }>();
const integration = await svc.getIntegration({ include: ['credentials'] });
if (integration.credentials && 'client_id' in integration.credentials) user = integration.credentials.client_id;
const checkpoint = await svc.getCheckpoint<{ page: string }>();
const one = await svc.triggerAction<{ text: string }>('greet', { name: user });
const two = await svc.triggerAction<{ name: string }, { text: string }>('greet', { name: user });
const far = await svc.triggerAction<{ name: string }, { text: string }>('crm', 'c-1', 'greet', { name: user });
const { data } = await svc.zodValidateInput<Team>({ zodSchema: z.object({ team: z.string() }), input: {} });
const pages = svc.paginate<{ id: number }>({ endpoint: '/', paginate: { type: 'link' } });
for await (const page of pages) await svc.log(page.map(({ id }) => id));
const { data: rows } = await svc.get<{ rows: Team[] }>({ endpoint: '/' });
const { data: loose } = await svc.post({ endpoint: '/', data: { a: 1 } });
const error = new svc.ActionError<Team>({ team: 'x' });
await svc.log(since, metadata.team, config['subdomain'], password, key, raw.team.id, checkpoint?.page, one.text, two.text, far.text, data.team, rows.rows[0]?.team, loose.id, error.payload.team);
`;
const usualSyncTypings = `
const rows: Row[] = [{ id: '1', name: 'Ada' }];
await svc.batchSave<Row>(rows, 'Item');
await svc.batchUpdate<Row>(rows, 'Item');
await svc.batchDelete<Row>(rows, 'Item');
const found = await svc.getRecordsById<string, Row>(['1'], 'Item');
const others = await svc.getRecordsByIds<string, Row>(['1'], 'Item');
for await (const row of svc.listRecords<Row>('Item')) await svc.log(row.name, row._svc_metadata.cursor);
await svc.log(found.get('1')?.name, others.get('1')?.name);
`;

/** Rows of docs/reference/functions.md that the compiler shows, on one project. */
const files = {
  'r/actions/inline.ts': `import { createAction } from 'svc';
import * as z from 'zod';
export default createAction({ description: '', input: z.void(), output: z.void(), exec: () => undefined });
`,
  'r/actions/types.ts': `${actionText('await svc.log(1);')}
export type LocalHandle = Parameters<(typeof action)['exec']>[0];
`,
  'r/actions/imports.ts': actionText(
    'const config: ProxyConfiguration = { endpoint: "/" };\nconst use = (handle: SvcAction, of: SvcSync | null, error: ActionError | null) => handle.log(of, error);\nawait use(svc, null, null);\nawait svc.get(config);',
    "import type { ActionError, ProxyConfiguration, SvcAction, SvcSync } from 'svc';",
  ),
  'r/actions/relative.ts': actionText(
    'await svc.log(said());',
    "import { said } from '../said.js';",
  ),
  'r/actions/erased.ts': `/// <reference path="../../package-of-types.d.ts" />
${actionText('const nothing: Nothing = undefined;\nawait svc.log(nothing);', "import type { Nothing } from 'package-of-types';")}`,
  'r/actions/unzips.ts': actionText(
    'const { files } = await unzipper.Open.buffer(Buffer.from("", "base64"));\nfor (const file of files) await svc.log(file.path, (await file.buffer()).toString());',
    "import unzipper from 'unzipper';",
  ),
  'r/said.ts': "export const said = (): string => 'said-by-another-file';\n",
  'package-of-types.d.ts':
    "declare module 'package-of-types' { export type Nothing = undefined; }\n",
  'r/syncs/options.ts': `import { createSync } from 'svc';
import { z } from 'zod';
const sync = createSync({
  description: 'All of it',
  version: '1.2.3',
  frequency: 'every 6 hours',
  autoStart: true,
  models: { Item: z.object({ id: z.string() }) },
  metadata: z.object({ team: z.string() }),
  checkpoint: z.object({ at: z.string() }),
  scopes: ['items:read'],
  webhookSubscriptions: ['item.changed'],
  syncType: 'full',
  trackDeletes: true,
  endpoints: [{ method: 'GET', path: '/items' }],
  exec: async (svc) => { await svc.saveCheckpoint({ at: '' }); },
  onWebhook: async (svc, payload) => { await svc.log(payload); },
});
export default sync;
`,
  'r/syncs/plain.ts': `import { createSync } from 'svc';
const sync = createSync({ description: 'Nothing more', frequency: 'every hour', models: {}, exec: async (svc) => { await svc.log(1); } });
export default sync;
`,
  'r/on-events/hook.ts': `import { createOnEvent } from 'svc';
import { z } from 'zod';
const hook = createOnEvent({ description: 'On it', event: 'validate-connection', version: '1', metadata: z.object({ team: z.string() }), exec: async (svc) => { await svc.log(1); } });
export default hook;
`,
};

const sandbox = await sharedSandbox();
let compiled: CompileResult;
beforeAll(async () => {
  using project = functionsProject(files);
  compiled = await compile(project, sandbox);
});

const built = (name: string) => compiled.functions.find(({ entry }) => entry.name === name);

describe('a module', () => {
  it.each([
    ['§1 what is imported from svc', 'imports'],
    ['§1 one default export, in either form', 'inline'],
    ['§1 exported types', 'types'],
    ['§1 types of any package', 'erased'],
  ])('%s', (_row, name) => {
    expect(built(name)?.artifact).toMatchObject({ type: 'action', name });
  });

  it('§1 unzipper: archives in memory, typed', () => {
    expect(built('unzips')?.bundle).toContain('require("unzipper")');
  });

  it('§1 relative imports', () => {
    expect(built('relative')?.bundle).toContain('said-by-another-file');
  });
});

it('functions that were written for the usual typings compile', async () => {
  const texts = {
    'u/actions/typings.ts': actionText(usualTypings, 'interface Team { team: string }'),
    'u/syncs/typings.ts': syncText(usualSyncTypings, {
      before: 'interface Row { id: string; name: string }',
    }),
    // Compiled beside it, so that there is something to refuse.
    'u/actions/refused.ts': actionText('const nothing: string = 1;\nawait svc.log(nothing);'),
  };
  const problems = await problemsOf(texts, sandbox);
  expect(problems.filter(({ file }) => file.includes('typings'))).toEqual([]);
  expect(problems).toHaveLength(1);
});

describe('options', () => {
  it.each([
    ['§2.1 description', { description: 'All of it' }],
    ['§2.1 frequency', { runs: 'every 6 hours' }],
    ['§2.1 models', { output: ['Item'], json_schema: { definitions: { Item: {} } } }],
    ['§2.1 version', { version: '1.2.3' }],
    ['§2.1 checkpoint', { features: ['checkpoints'] }],
    ['§2.1 autoStart', { auto_start: true }],
    ['§2.1 metadata', { input: 'SyncMetadata_r_options' }],
    ['§2.1 webhookSubscriptions', { webhookSubscriptions: ['item.changed'] }],
    ['§2.1 scopes', { scopes: ['items:read'] }],
    ['§2.1 trackDeletes', { track_deletes: true }],
    ['§2.1 syncType', { sync_type: 'full' }],
    ['§2.1 endpoints', { endpoints: [{ method: 'GET', path: '/items' }] }],
  ])('%s', (_row, expected) => {
    expect(built('options')?.artifact).toMatchObject(expected);
  });

  it('§2.1 what is left out', () => {
    const defaults = { version: '', auto_start: false, track_deletes: false, sync_type: 'full' };
    const none = { input: null, output: [], scopes: [], webhookSubscriptions: [], endpoints: [] };
    expect(built('plain')?.artifact).toMatchObject({ ...defaults, ...none });
  });

  it('§2.2 options of actions', () => {
    expect(built('types')?.artifact).toMatchObject({
      description: 'An action',
      input: 'ActionInput_r_types',
      output: ['ActionOutput_r_types'],
      scopes: [],
      endpoint: null,
    });
  });

  it('§2.3 options of on-event functions', () => {
    expect(built('hook')?.artifact).toEqual({
      type: 'on-event',
      name: 'hook',
      description: 'On it',
      version: '1',
      event: 'validate-connection',
      metadata: expect.objectContaining({ required: ['team'] }) as object,
    });
  });

  it('§2.4 integration, kind and name are those of the path', () => {
    const named = compiled.functions.map(({ entry: { integrationKey, kind, name } }) => [
      integrationKey,
      kind,
      name,
    ]);
    expect(named).toContainEqual(['r', 'sync', 'options']);
    expect(named).toContainEqual(['r', 'on-event', 'hook']);
  });
});
