import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { savedRequest } from './mocks/identity.ts';
import type { Mocks, SavedAnswer } from './mocks/mocks.ts';

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
export function demoMocks(account: Account): Readonly<Record<string, Mocks>> {
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
