import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { performDeployment, type Consent } from '#cli/commands/deploy.ts';
import type { CompileResult } from '#cli/compiler/compile.ts';
import { openClient } from '#cli/context.ts';
import { packageFunctions, type Selection } from '#cli/deploy/package.ts';
import { CommandFailure } from '#cli/exit.ts';
import { outputTo } from '#cli/output.ts';
import type { DeployPreview } from '#client/index.ts';
import { deployServer, emptyPlan, type DeployServer } from '#test/support/fakes/deploy-server.ts';
import { compile } from '#test/support/worlds/compile.ts';
import { actionText, functionsProject, syncText } from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

let server: DeployServer;
let compiled: CompileResult;

beforeAll(async () => {
  server = await deployServer();
  const sandbox = await sharedSandbox();
  using project = functionsProject({
    'crm/syncs/contacts.ts': syncText("await svc.batchSave([], 'Contact');", {
      model: 'Contact',
      more: "version: '2.0.0', frequency: 'every hour', autoStart: true,",
    }),
    'crm/actions/create-contact.ts': actionText('await svc.log(1);'),
    'mail/actions/create-contact.ts': actionText('await svc.log(2);'),
    'mail/on-events/greet.ts': `import { createOnEvent } from 'svc';
export default createOnEvent({
  description: 'Greets',
  event: 'post-connection-creation',
  exec: async (svc) => {
    await svc.log('hello');
  },
});
`,
    'projections/names.ts': `import { createProjection } from 'svc';
import { z } from 'zod';
export default createProjection({
  description: 'Names',
  from: { models: ['Contact'] },
  row: z.object({ id: z.string() }),
  map: ({ record_id }) => ({ id: record_id }),
});
`,
  });
  compiled = await compile(project, sandbox);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  server.asked.length = 0;
  server.answer = { status: 200, body: emptyPlan };
});

interface With {
  readonly selection?: Selection;
  readonly version?: string;
  readonly consent?: Partial<Consent>;
  readonly hasProjections?: boolean;
  /** What somebody types. */
  readonly answer?: string;
}

/** Deploys and says how it ended: the error's text, empty when it went well. */
async function deploy(options: With = {}) {
  const { selection = {}, version, consent = {}, answer = '' } = options;
  let out = '';
  let questions = 0;
  const stream = { write: (text: string) => (out += text) };
  const context = {
    root: '/nowhere',
    output: outputTo(stream, stream),
    prompt: async () => {
      questions += 1;
      return answer;
    },
  };
  const client = openClient({ host: server.url, secretKey: 'the-key', version: '1.2.3' });
  const none = { autoConfirm: false, allowDestructive: false, allowBreaking: false, canAsk: false };
  const given = { ...none, ...consent };
  try {
    const deployment = packageFunctions(
      compiled.functions,
      selection,
      version,
      options.hasProjections === true ? compiled.projections : [],
    );
    const telling = { progress: () => undefined, isJson: false };
    await performDeployment(context, client, deployment, given, telling);
    return { exitCode: 0, error: '', out, questions };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { exitCode: error.exitCode, error: error.message, out, questions };
  }
}

const paths = (): string[] => server.asked.map(({ path }) => path);
const preview = '/functions/deployments/bundle/preview';
const bundle = '/functions/deployments/bundle';

const item = (type: 'sync' | 'action' | 'on-event', name: string, connections = 0) => ({
  integrationId: 'crm',
  name,
  type,
  connections,
  auto_start: true,
});

const removal: DeployPreview = {
  ...emptyPlan,
  created: [item('sync', 'contacts', 12), { ...item('sync', 'notes', 12), auto_start: false }],
  deleted: [item('sync', 'old-contacts', 3), item('action', 'gone')],
  deletedModels: ['OldContact'],
};

describe('a deployment', () => {
  it('asks for the plan, deploys the whole project and names what is there', async () => {
    server.answer.body = {
      ...emptyPlan,
      created: [item('sync', 'contacts', 12)],
      unchanged: [item('action', 'create-contact')],
    };
    const { exitCode, questions, out } = await deploy();
    expect({ exitCode, questions }).toEqual({ exitCode: 0, questions: 0 });
    expect(paths()).toEqual([preview, bundle]);
    expect(server.asked[1]).toMatchObject({
      authorization: 'Bearer the-key',
      userAgent: 'svc-cli/1.2.3',
      body: { reconciliationScope: { kind: 'integrations', integrationIds: ['crm', 'mail'] } },
    });
    expect(out).toContain(' + crm -> contacts               (12 impacted connections)');
    expect(out).toContain('  Syncs     to create [ 1 ]  to update [ 0 ]  to delete [ 0 ]');
    expect(out).toContain(
      'Successfully deployed the functions:\n- contacts@v2.0.0\n- create-contact\n',
    );
  });

  it('sends each function whole', async () => {
    server.answer.body = { ...emptyPlan, created: [item('sync', 'contacts')] };
    await deploy({ version: '9.9.9' });
    const functions = server.asked[1]?.body.functions ?? [];
    expect(functions).toHaveLength(4);
    expect(functions[0]).toMatchObject({
      type: 'sync',
      syncName: 'contacts',
      providerConfigKey: 'crm',
      models: ['Contact'],
      runs: 'every hour',
      auto_start: true,
      track_deletes: false,
      sync_type: 'full',
      version: '9.9.9',
      metadata: { description: 'A sync', scopes: [] },
      models_json_schema: { definitions: { Contact: { type: 'object' } } },
      fileBody: {
        js: expect.stringContaining('module.exports') as string,
        ts: expect.stringContaining('createSync({') as string,
      },
    });
    expect(functions[1]).toMatchObject({
      type: 'action',
      input: 'ActionInput_crm_createcontact',
      models: ['ActionOutput_crm_createcontact'],
      runs: null,
    });
    expect(functions[3]).toMatchObject({
      type: 'on-event',
      name: 'greet',
      integrationId: 'mail',
      event: 'post-connection-creation',
    });
  });

  it.each<[Selection, unknown, number]>([
    [{ integration: 'mail' }, { kind: 'integration', integrationId: 'mail' }, 2],
    [
      { sync: 'contacts' },
      { kind: 'function', integrationId: 'crm', name: 'contacts', type: 'sync' },
      1,
    ],
    [
      { action: 'create-contact', integration: 'mail' },
      { kind: 'function', integrationId: 'mail', name: 'create-contact', type: 'action' },
      1,
    ],
  ])('of %j is about that part only', async (selection, scope, count) => {
    expect((await deploy({ selection })).exitCode).toBe(0);
    expect(server.asked[0]?.body.reconciliationScope).toEqual(scope);
    expect(server.asked[0]?.body.functions).toHaveLength(count);
  });

  it.each<[Selection, string]>([
    [{ action: 'create-contact' }, 'exists in crm, mail: choose one with --integration'],
    [{ sync: 'nothing' }, 'index.ts names no sync "nothing"'],
    [{ integration: 'nothing' }, 'index.ts names no function of the integration "nothing"'],
    [{ sync: 'contacts', action: 'create-contact' }, 'Name a sync or an action, not both'],
  ])('of %j is refused with an explanation', async (selection, message) => {
    const ended = await deploy({ selection });
    expect(ended.exitCode).toBe(1);
    expect(ended.error).toContain(message);
    expect(server.asked).toEqual([]);
  });

  it('names what changes about each function', async () => {
    const none = { model: null, from: null, to: null, fields: [] };
    const changes = [
      { ...none, part: 'code' },
      {
        ...none,
        part: 'model',
        model: 'Contact',
        fields: [
          { field: 'email', change: 'added', from: null, to: 'string' },
          { field: 'size', change: 'retyped', from: 'number', to: 'string\u001b[31m' },
        ],
      },
      { ...none, part: 'frequency', from: 'every hour', to: 'every day' },
    ];
    server.answer.body = { ...emptyPlan, updated: [{ ...item('sync', 'contacts'), changes }] };
    const { out } = await deploy();
    expect(out).toContain(
      ' Only updates\n\n [Syncs +0 ~1 -0]\n ~ crm -> contacts\n     code\n' +
        '     Contact: + email (string), size: number → string\\x1b[31m\n' +
        '     frequency: every hour → every day\n',
    );
  });

  it('says so when everything was removed', async () => {
    server.answer.body = { ...emptyPlan, deleted: [item('action', 'gone')] };
    const consent = { allowDestructive: true, autoConfirm: true };
    expect((await deploy({ consent })).out).toContain('Successfully removed the syncs/actions.');
  });

  it('that changes nothing sends digests, says so, and ends there', async () => {
    const unchanged = [item('sync', 'contacts'), item('action', 'create-contact')];
    server.answer.body = { ...emptyPlan, unchanged };
    expect(await deploy()).toMatchObject({
      exitCode: 0,
      out: ' Nothing to change: 2 functions as deployed\n',
    });
    expect(paths()).toEqual([preview]);
    const sent = server.asked[0]?.body.functions.map(({ fileBody }) => fileBody);
    const { bundle: js = '', source: ts = '' } = compiled.functions[0] ?? {};
    const digest = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(sent?.[0]).toEqual({ js_sha256: digest(js), ts_sha256: digest(ts) });
    expect(JSON.stringify(sent)).not.toContain('module.exports');
  });

  it('that changes nothing still repairs the syncs of an interrupted one', async () => {
    const unchanged = [item('sync', 'contacts')];
    server.answer.body = { ...emptyPlan, unchanged, syncs_pending: true };
    const { exitCode, out } = await deploy();
    expect({ exitCode, paths: paths() }).toEqual({ exitCode: 0, paths: [preview, bundle] });
    expect(out).toContain('behind an interrupted deployment');
  });
});

describe('a deployment that removes something', () => {
  beforeEach(() => {
    server.answer.body = removal;
  });

  it('shows what goes away', async () => {
    const { out } = await deploy();
    expect(out).toContain(' [Syncs +2 -1]');
    expect(out).toContain(' + crm -> notes                  (0 impacted connections)');
    expect(out).toContain(' - crm -> old-contacts           (3 impacted connections)');
    expect(out).toContain(' [Actions +0 -1]\n - crm -> gone\n');
    expect(out).toContain('OldContact');
    expect(out).toContain('A renamed model is a new one');
    expect(out).not.toContain('\u001b[');
  });

  const autoConfirm = true;
  const allowDestructive = true;
  const canAsk = true;
  it.each<[string, Partial<Consent>, string, boolean]>([
    ['nobody can be asked', {}, '', false],
    ['only --auto-confirm is given', { autoConfirm }, '', false],
    ['only --allow-destructive is given', { allowDestructive }, '', false],
    ['both flags are given', { allowDestructive, autoConfirm }, '', true],
    ['somebody says yes', { canAsk }, 'y', true],
    ['somebody says no', { canAsk }, 'n', false],
    ['somebody says nothing', { canAsk }, '', false],
    ['--auto-confirm is given and somebody says no', { canAsk, autoConfirm }, 'n', false],
    ['--allow-destructive is given and somebody says no', { canAsk, allowDestructive }, 'n', false],
  ])('when %s', async (_what, consent, answer, isDeployed) => {
    const ended = await deploy({ consent, answer });
    expect(ended.exitCode).toBe(isDeployed ? 0 : 11);
    expect(paths()).toEqual(isDeployed ? [preview, bundle] : [preview]);
    if (!isDeployed && consent.canAsk !== true) {
      expect(ended.error).toContain('--allow-destructive and --auto-confirm');
    }
  });
});

describe('a deployment that breaks readers', () => {
  const field = { field: 'phone', change: 'removed', from: 'string', to: null } as const;
  const readers = { api_keys: ['crm app'], webhook_endpoints: [], typed_topics: ['svc.cdc.v1'] };
  beforeEach(() => {
    const of = { integrationId: 'crm', function: 'contacts', model: 'Contact' };
    server.answer.body = {
      ...emptyPlan,
      updated: [{ ...item('sync', 'contacts'), changes: [] }],
      breaking: [{ ...of, fields: [field], readers }],
    };
  });

  it('names model, field and readers', async () => {
    expect((await deploy()).out).toContain(
      ' These changes break readers of records:\n   Contact of crm: - phone (string)\n' +
        '     API keys: crm app\n     typed topics: svc.cdc.v1\n',
    );
  });

  it.each<[string, Partial<Consent>, string, boolean]>([
    ['nobody can be asked', {}, '', false],
    ['only removals are agreed to', { allowDestructive: true, autoConfirm: true }, '', false],
    ['--allow-breaking is given', { allowBreaking: true }, '', true],
    ['somebody says yes', { canAsk: true }, 'yes', true],
    ['somebody says no', { canAsk: true }, 'n', false],
  ])('when %s', async (_what, consent, answer, isDeployed) => {
    const ended = await deploy({ consent, answer });
    expect(ended.exitCode).toBe(isDeployed ? 0 : 11);
    expect(paths()).toEqual(isDeployed ? [preview, bundle] : [preview]);
    if (!isDeployed && consent.canAsk !== true) expect(ended.error).toContain('--allow-breaking');
  });
});

describe('the projections of a deployment', () => {
  const projection = '/custom-projections/names';
  /** The answer to each call: the plan, and the projections that the service has. */
  const existing = (...data: readonly object[]) => ({ ...emptyPlan, data });

  it('are planned, and deployed without functions that are as deployed', async () => {
    server.answer.body = existing();
    const { exitCode, out } = await deploy({ hasProjections: true });
    expect(exitCode).toBe(0);
    expect(paths()).toEqual([preview, projection]);
    expect(server.asked[1]?.body).toMatchObject({
      models: ['Contact'],
      row: { properties: { id: { type: 'string' } } },
    });
    expect(out).toContain(' [Projections +1 ~0 -0]\n + names\n');
    expect(out).toContain('Successfully deployed the projections.');
  });

  it('are left alone where a function is selected, and asked for before they are removed', async () => {
    server.answer.body = existing({ name: 'former', content_hash: 'x' });
    await deploy({ hasProjections: true, selection: { sync: 'contacts' } });
    expect(paths()).toEqual([preview]);
    server.asked.length = 0;
    const removing = { hasProjections: true, selection: { prune: true } };
    expect(await deploy(removing)).toMatchObject({ exitCode: 11 });
    expect(paths()).toEqual([preview]);
  });
});

describe('a deployment that the service refuses', () => {
  it('prints what the service says', async () => {
    const message = 'Another deployment is in progress.';
    server.answer = {
      status: 409,
      body: { error: { code: 'concurrent_deployment', message, fix: 'Wait.' } },
    };
    expect(await deploy()).toMatchObject({
      exitCode: 11,
      error: `The deployment failed:\n  ${message} (concurrent_deployment)\n  Wait.`,
    });
  });

  it('prints each issue of a refused body', async () => {
    const errors = [{ code: 'custom', message: 'too long', path: ['functions', '0'] }];
    server.answer = { status: 400, body: { error: { code: 'invalid_body', errors } } };
    expect((await deploy()).error).toContain('functions.0: too long');
  });

  it('keeps its temper when the answer is no JSON', async () => {
    server.answer = { status: 200, body: 'hello' };
    expect((await deploy()).error).toContain('The response of the service is not JSON');
  });
});
