import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { FunctionKind } from '#modules/functions/functions/function.ts';
import { savedRequest } from './mocks/identity.ts';
import { mocksPath, type Mocks, type SavedAnswer } from './mocks/mocks.ts';
import { testConfiguration, testPath, testText } from './mocks/test-files.ts';
import { functionPath, importLine } from './project-layout.ts';
import { projectFrame, type Files } from './scaffold.ts';

const integration = 'demo';
/** The fake API in a gateway on loopback (docs/demo). */
const provider = 'demo-key';

/** The integrations of the project with their providers, for `package.json`. */
export const demoIntegrations = { [integration]: provider } as const;

const contactModel = `import { z } from 'zod';

export const Contact = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
});
export type Contact = z.infer<typeof Contact>;
`;

const contactsSync = `import { createSync } from 'svc';
import { Contact } from '../contact.js';

const sync = createSync({
  description: 'All contacts, page by page; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Contact },

  exec: async (svc) => {
    await svc.trackDeletesStart('Contact');
    // How this provider paginates is known: see "svc api GET /providers/demo-key".
    const pages = svc.paginate<Contact>({ endpoint: '/contacts', paginate: { limit: 100 }, retries: 3 });
    for await (const contacts of pages) {
      await svc.batchSave(
        contacts.map(({ id, name, email }) => ({ id, name, email })),
        'Contact',
      );
    }
    await svc.trackDeletesEnd('Contact');
  },
});

export default sync;
`;

const renameContactAction = `import { createAction } from 'svc';
import { z } from 'zod';
import { Contact } from '../contact.js';

const action = createAction({
  description: 'Gives a contact another name',
  version: '1.0.0',
  input: z.object({ id: z.string(), name: z.string() }),
  output: Contact,

  exec: async (svc, { id, name }) => {
    if (name.trim() === '') throw new svc.ActionError({ message: 'A name is needed' });
    const { data } = await svc.patch<Contact>({
      endpoint: \`/contacts/\${encodeURIComponent(id)}\`,
      data: { name },
      retries: 3,
    });
    return { id: data.id, name: data.name, email: data.email };
  },
});

export default action;
`;

const checkAccessOnEvent = `import { createOnEvent } from 'svc';

const onEvent = createOnEvent({
  description: 'Refuses a connection whose key may not read contacts',
  version: '1.0.0',
  event: 'validate-connection',

  exec: async (svc) => {
    await svc.get({ endpoint: '/contacts', params: { limit: 1 }, retries: 3 });
  },
});

export default onEvent;
`;

/** The functions of the project, in the order of `index.ts`. */
const functions = [
  ['sync', 'contacts', contactsSync],
  ['action', 'rename-contact', renameContactAction],
  ['on-event', 'check-access', checkAccessOnEvent],
] as const satisfies readonly (readonly [FunctionKind, string, string])[];

/** What `svc dryrun --save` and `svc generate:tests` write, so that `svc test` runs in a new project. */
function testFiles(): Files {
  const tests = functions.map(([kind, name]): [string, string] => [
    testPath({ integrationKey: integration, name }),
    testText({ integrationKey: integration, kind, name }),
  ]);
  const mocks = Object.entries(demoMocks({ integration, provider })).map(
    ([name, content]): [string, string] => [
      mocksPath(integration, name),
      `${JSON.stringify(content, null, 2)}\n`,
    ],
  );
  return { ...testConfiguration, ...Object.fromEntries([...tests, ...mocks]) };
}

/** The files of a new project besides package.json, which contains versions. It runs against the demo provider. */
export function projectFiles(): Files {
  const lines = functions.map(([kind, name]) => importLine(integration, kind, name));
  const sources = functions.map(([kind, name, text]): [string, string] => [
    `${functionPath(integration, kind, name)}.ts`,
    text,
  ]);
  return {
    ...projectFrame,
    'index.ts': `// Every function that is deployed, one line each. The first folder is the integration.\n${lines.join('')}`,
    [`${integration}/contact.ts`]: contactModel,
    ...Object.fromEntries(sources),
    ...testFiles(),
  };
}

/** How the demo provider answers in pages; src/modules has it for the gateway. */
const paginate = {
  type: 'cursor',
  cursor_path_in_response: 'next',
  cursor_name_in_request: 'after',
  limit_name_in_request: 'limit',
  response_path: 'data',
};

const savedAt = '2026-01-01T00:00:00.000+00:00';

const contact = (number: string, name: string): JsonObject & { readonly id: string } => ({
  id: `contact-${number}`,
  name,
  email: `${number}@example.com`,
});

/** A contact as the provider sends it, with fields that the sync leaves out. */
const sent = (one: JsonObject): JsonObject => ({ ...one, company: 'Blue Harbor' });

interface Exchange {
  readonly method: string;
  readonly endpoint: string;
  readonly params?: JsonObject;
  readonly data?: Json;
  readonly response: Json;
}

function answered(exchanges: readonly Exchange[]): Mocks['api'] {
  const answers: Record<string, Record<string, SavedAnswer[]>> = {};
  for (const { method, endpoint, params, data, response } of exchanges) {
    const body =
      data === undefined ? { kind: 'none' as const } : { kind: 'json' as const, value: data };
    const { path, request, hash } = savedRequest({ method, endpoint, params, body });
    const headers = { 'content-type': 'application/json' };
    const ofMethod = (answers[method] ??= {});
    (ofMethod[path] ??= []).push({ request, response, status: 200, headers, hash });
  }
  return answers;
}

interface Account {
  readonly integration: string;
  readonly provider: string;
}

const connectionOf = ({ integration, provider }: Account): JsonObject => ({
  id: 1,
  connection_id: 'me',
  provider_config_key: integration,
  provider,
  errors: [],
  end_user: null,
  tags: {},
  metadata: {},
  connection_config: {},
  webhook_url_override: null,
  created_at: savedAt,
  updated_at: savedAt,
  last_fetched_at: savedAt,
  credentials: { type: 'API_KEY', apiKey: 'masked' },
});

type Outcome = Pick<Mocks, 'input' | 'output'> & { readonly saved?: Mocks['svc']['batchSave'] };

function mocksOf(
  account: Account,
  exchanges: readonly Exchange[],
  { saved = {}, ...inputAndOutput }: Outcome = {},
): Mocks {
  return {
    ...inputAndOutput,
    run: { provider: account.provider, variant: 'base', lastSyncDate: null, paginate },
    svc: {
      getConnection: connectionOf(account),
      getMetadata: {},
      getCheckpoint: null,
      batchSave: saved,
      batchUpdate: {},
      batchDelete: {},
      calls: {},
    },
    api: answered(exchanges),
    fetch: {},
  };
}

/** What `svc dryrun --save` writes for a function of the new project, with two contacts instead of 250. */
function demoMocks(account: Account): Readonly<Record<string, Mocks>> {
  const ann = contact('001', 'Ann Adler');
  const bob = contact('002', 'Bob Brandt');
  const list = { method: 'get', endpoint: '/contacts' };
  const pages = [
    { ...list, params: { limit: '100' }, response: { data: [sent(ann)], next: ann.id } },
    {
      ...list,
      params: { after: ann.id, limit: '100' },
      response: { data: [sent(bob)], next: null },
    },
  ];
  const name = 'Ada Lovelace';
  const renamed = { ...ann, name };
  const renaming = {
    method: 'patch',
    endpoint: `/contacts/${ann.id}`,
    data: { name },
    response: sent(renamed),
  };
  const first = { ...list, params: { limit: '1' }, response: { data: [sent(ann)], next: ann.id } };
  return {
    contacts: mocksOf(account, pages, { saved: { Contact: [ann, bob] } }),
    'rename-contact': mocksOf(account, [renaming], {
      input: { id: ann.id, name },
      output: renamed,
    }),
    'check-access': mocksOf(account, [first]),
  };
}
