import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectionOf, type IntegrationFake } from '#cli/fakes/project-fakes.ts';
import { parseFixture } from '#fake-providers/objects/fixture.ts';
import { ObjectApi } from '#fake-providers/objects/object-api.ts';
import { openFakeAuth } from '#fake-providers/server.ts';
import { providerOf } from '#test/support/worlds/authorizing.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { functionsProject } from '#test/support/worlds/functions-project.ts';
import { openProjectWorld, type ProjectWorld } from '#test/support/worlds/project-world.ts';

const repository = new URL('../../', import.meta.url);
const read = (file: string): string =>
  readFileSync(fileURLToPath(new URL(file, repository)), 'utf8');

interface Example {
  readonly title: string;
  /** Path of the function that it becomes, without extension. */
  readonly file: string;
  readonly text: string;
}

const fileName = (title: string): string =>
  title
    .replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    .replaceAll(/[^a-z]+/g, '-')
    .replace(/^-/, '');

function folderOf(code: string): string {
  if (code.includes('createOnEvent(')) return 'on-events';
  return code.includes('createOnChange(') ? 'on-changes' : 'syncs';
}

/** Each code block of the page as a file of functions: the heading above names it. */
const examples: readonly Example[] = read('docs/functions.md')
  .split(/^### /m)
  .slice(1)
  .map((part, number): Example => {
    const [title = ''] = part.split('\n');
    const [, code = ''] = /```ts\n([^]*?)```/.exec(part) ?? [];
    const folder = folderOf(code);
    const text = code.startsWith('import ') ? code : inSync(code, number);
    return { title, file: `crm/${folder}/${fileName(title)}`, text };
  });

/** Two syncs of an integration have no model in common: the model takes the number of its example. */
function inSync(code: string, number: number): string {
  const model = `Contact${number}`;
  return `import { createSync } from 'svc';
import { z } from 'zod';

export default createSync({
  description: 'An example of the documentation',
  frequency: 'every hour',
  models: {
    ${model}: z.object({ id: z.string(), name: z.string(), tags: z.array(z.string()) }),
  },
  metadata: z.object({ since: z.string().optional() }),
  checkpoint: z.object({ page: z.string() }),
  exec: async (svc) => {
${code.replaceAll("'Contact'", `'${model}'`)}
  },
});
`;
}

const greet = `import { createAction } from 'svc';
import { z } from 'zod';

export default createAction({
  description: 'Greets',
  input: z.object({ name: z.string() }),
  output: z.object({ text: z.string() }),
  exec: async (svc, { name }) => {
    await svc.log(name);
    return { text: \`Hello \${name}\` };
  },
});
`;

interface RunsPage {
  readonly data: readonly {
    readonly function: string;
    readonly status: string;
    readonly error: unknown;
    readonly ended_at: string | null;
  }[];
}

/** The CRM of the page: contacts come in pages, and every change is taken. */
const contacts = parseFixture({
  documentation: ['https://docs.example'],
  checked_at: '2026-11-27',
  lists: [
    {
      endpoint: '/contacts',
      documents: 'data',
      pagination: { type: 'cursor', name: 'after', path: 'next' },
      limit: { name: 'limit', max: 100 },
    },
  ],
  documents: [1, 2, 3].map((id) => ({ id: String(id), name: `Contact ${id}` })),
  deletes: { type: 'none', because: 'the page deletes nothing there' },
  exchanges: [
    { method: 'POST', endpoint: '/contacts', response: { status: 201, body: { id: '1' } } },
    ...['PUT', 'PATCH', 'DELETE'].map((method) => ({
      method,
      endpoint: '/contacts/1',
      response: { body: { id: '1' } },
    })),
  ],
});

const crmProvider = providerOf('API_KEY', {
  name: 'crm',
  connection_config: {},
  proxy: { base_url: 'https://crm.example', headers: { authorization: 'Bearer ${apiKey}' } },
});

const stack = new AsyncDisposableStack();
let world: ProjectWorld;
let crm: IntegrationFake;
beforeAll(async () => {
  const fake = stack.use(await openFakeAuth());
  const files = [...examples, { file: 'crm/actions/greet', text: greet }];
  const texts = files.map(({ file, text }) => {
    const content = text.replaceAll('https://status.example', fake.url);
    return [`${file}.ts`, content] as const;
  });
  const project = stack.use(functionsProject(Object.fromEntries(texts)));
  const played = fake.play(crmProvider);
  const fixtures = new Map([['contacts', contacts]]);
  const api = new ObjectApi(fixtures, crmProvider.proxy);
  played.serve((request, path) => api.answer(request, path));
  crm = { integrationKey: 'crm', provider: crmProvider, played, api, fixtures };
  const providers = {
    hostPort: fake.hostPort,
    definitions: fake.definitions(),
    integrations: [crm],
  };
  world = stack.use(await openProjectWorld(project.root, providers));
});
afterAll(() => stack.disposeAsync());

it.each(examples)('$title does what the page shows', async ({ file }) => {
  const ended = await world.svc(['dryrun', file, 'demo', '-e', 'dev', '--validate']);
  expect(ended, ended.err).toMatchObject({ exitCode: 0 });
});

const namesOf = (kind: string): string[] =>
  examples.flatMap(({ file }) => (file.includes(`/${kind}/`) ? [basename(file)] : []));

it('every example does what the page shows when it is deployed', async () => {
  const { gateway } = world;
  const deployed = await world.svc(['deploy', 'dev', '--integration', 'crm']);
  expect(deployed, deployed.err).toMatchObject({ exitCode: 0 });
  const syncs = namesOf('syncs');
  const pair = { provider_config_key: 'crm', connection_id: 'demo' };
  const triggered = await gateway.call('POST', '/sync/trigger', { body: { ...pair, syncs } });
  expect(triggered.status, JSON.stringify(triggered.body)).toBe(200);
  const runs = await eventually(
    async () => (await gateway.call('GET', '/runs?kind=sync&limit=500')).body as RunsPage,
    ({ data }) =>
      syncs.every((sync) => data.some((run) => run.function === sync)) &&
      data.every(({ ended_at }) => ended_at !== null),
  );
  const failed = runs.data.filter(({ status }) => status !== 'succeeded');
  expect(failed.map((run) => ({ function: run.function, error: run.error }))).toEqual([]);
  // Its on-event function asks the provider before the connection is there.
  expect(namesOf('on-events')).toHaveLength(1);
  const body = connectionOf(crm, 'validated', {});
  expect((await gateway.call('POST', '/connections', { body })).status).toBeLessThan(300);
});

it('the page has an example of every member of the handle', () => {
  const members = [...read('src/sdk/handle.ts').matchAll(/^ {2}(?:readonly )?(\w+)[?<(:]/gm)]
    .map(([, name = '']) => name)
    .filter((name) => !['type', 'payload'].includes(name));
  expect(members.length).toBeGreaterThan(40);
  const titles = new Set(examples.map(({ title }) => title));
  expect(members.filter((name) => !titles.has(name))).toEqual([]);
});
