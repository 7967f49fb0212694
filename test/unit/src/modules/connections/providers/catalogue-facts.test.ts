import { describe, expect, it } from 'vitest';
import type { Provider } from '#modules/connections/providers/definition.ts';
import {
  certaintyOf,
  contradictedConfirmations,
  undocumentedFields,
  weakEntries,
} from '#test/catalogue/confirmations.ts';
import {
  contradictedDecisions,
  differences,
  undecidedDifferences,
} from '#test/catalogue/differences.ts';
import {
  type EntryFacts,
  dueVersions,
  noticeDays,
  readFacts,
  unmatchedVersions,
  versionRows,
} from '#test/catalogue/facts.ts';
import { pinnedVersions } from '#test/catalogue/pinned-versions.ts';
import { builtInCatalogue } from '#test/support/worlds/catalogue.ts';

const dayMs = 86_400_000;
const providers = builtInCatalogue().all();
const facts = readFacts();
const rows = versionRows(facts);
const ending = rows.filter(({ expires_at: end }) => end !== null);

describe('the facts of the catalog', () => {
  it('have a row for each version that an entry pins, and no other', () => {
    expect(unmatchedVersions(providers.flatMap(pinnedVersions), rows)).toEqual({
      withoutRow: [],
      withoutPin: [],
    });
  });

  it('name no version that ends within the notice: update the entry, then its row', () => {
    expect(dueVersions(rows, Date.now())).toEqual([]);
  });

  it.each(ending.map((row) => [`${row.entry} ${row.version}`, row] as const))(
    'name %s from the first day of the notice on',
    (_, row) => {
      const notice = row.successor === undefined ? noticeDays * dayMs : -dayMs;
      const start = Date.parse(String(row.expires_at)) - notice;
      expect(dueVersions(rows, start - 1)).not.toContain(row);
      expect(dueVersions(rows, start)).toContain(row);
    },
  );

  it('name every version with an end, the earliest first, once all have ended', () => {
    const due = dueVersions(rows, Date.UTC(2100, 0, 1));
    expect(new Set(due)).toEqual(new Set(ending));
    const ends = due.map((row) => row.expires_at);
    expect(ends).toEqual([...ends].sort());
  });

  it('are of entries of the catalog', () => {
    const names = new Set(providers.map(({ name }) => name));
    const entries = [...facts.values()].flatMap((one) => Object.keys(one));
    const successors = rows.flatMap(({ successor = [] }) => successor);
    expect([...entries, ...successors].filter((name) => !names.has(name))).toEqual([]);
  });
});

describe('the confirmations of the catalog', () => {
  it('are of the values that the entries have', () => {
    expect(contradictedConfirmations(providers, facts)).toEqual([]);
  });

  it('are reported where the entry has another value, or not the field', () => {
    const provider = {
      name: 'one',
      proxy: { base_url: 'https://b.example', headers: { 'x.key': 'v' } },
    };
    const confirmed = {
      'proxy.base_url': { value: 'https://a.example', sources: 2 },
      'proxy.headers.x.key': { value: 'v', sources: 2 },
      token_url: { value: 'https://a.example/token', sources: 2 },
    };
    expect(
      contradictedConfirmations(
        [provider as unknown as Provider],
        new Map([['file.yaml', { one: { confirmed } }]]),
      ),
    ).toEqual(['one proxy.base_url', 'one token_url']);
  });

  it('leave no address and no key to one source alone', () => {
    expect(weakEntries(providers, facts)).toEqual([]);
  });

  const entryOf = (definition: object): Provider =>
    ({ name: 'one', auth_mode: 'NONE', ...definition }) as Provider;
  const weakOf = (provider: Provider, one: EntryFacts): string[] =>
    weakEntries([provider], new Map([['file.yaml', { one }]]));

  it('are asked for until a decision says that the field is undocumented', () => {
    const provider = entryOf({ proxy: { base_url: 'https://a.example' } });
    const confirmed = { 'proxy.base_url': { value: 'https://a.example', sources: 1 } };
    expect(weakOf(provider, { confirmed })).toEqual(['one: single']);
    expect(weakOf(provider, {})).toEqual(['one: unconfirmed']);
    const decision = { because: 'No page.', checked_at: null, source: 'https://a.example' };
    const undocumented = { ...decision, outcome: 'undocumented' as const };
    const decided = { confirmed, decisions: [{ ...undocumented, field: 'proxy.base_url' }] };
    expect(weakOf(provider, decided)).toEqual([]);
    const listed = undocumentedFields([provider], new Map([['file.yaml', { one: decided }]]));
    expect(listed).toEqual(['one proxy.base_url']);
    const other = { confirmed, decisions: [{ ...undocumented, field: 'token_url' }] };
    expect(weakOf(provider, other)).toEqual(['one: single']);
  });

  it.each([
    ['https://${connectionConfig.host}/api', {}, []],
    ['${connectionConfig.host}', {}, []],
    ['https://${connectionConfig.host}', { enum: ['a.example'] }, ['one: unconfirmed']],
    ['https://${connectionConfig.host}', { default_value: 'a.example' }, ['one: unconfirmed']],
    ['https://${connectionConfig.host}.example', {}, ['one: unconfirmed']],
  ])('are not asked for of a base that the connection gives: %s %j', (base, field, weak) => {
    const host = { type: 'string', title: 'Host', ...field };
    const provider = entryOf({ connection_config: { host }, proxy: { base_url: base } });
    expect(weakOf(provider, {})).toEqual(weak);
  });

  it('of the base URL are those of a key in it', () => {
    const base = 'https://a.example/bot${apiKey}';
    const credentials = { apiKey: { type: 'string', title: 'Key' } };
    const provider = entryOf({ auth_mode: 'API_KEY', credentials, proxy: { base_url: base } });
    const confirmed = { 'proxy.base_url': { value: base, sources: 2 } };
    expect(weakOf(provider, { confirmed })).toEqual([]);
    expect(weakOf({ ...provider, credentials: {} }, { confirmed })).toEqual(['one: unconfirmed']);
  });

  it.each([
    ['a page', { page: 'https://a.example/docs' }, 'documented'],
    ['two sources', { sources: 2 }, 'agreed'],
    ['one source', { sources: 1 }, 'single'],
  ] as const)('make an entry as certain as the least of its needed fields: %s', (_, by, level) => {
    const definition = { auth_mode: 'API_KEY', proxy: { base_url: 'https://a.example' } };
    const provider = {
      ...definition,
      proxy: { ...definition.proxy, headers: { accept: '*', 'x-key': '${apiKey}' } },
    } as unknown as Provider;
    const page = { value: 'https://a.example', page: 'https://a.example/docs' };
    const confirmed = { 'proxy.base_url': page, 'proxy.headers.x-key': { value: 'v', ...by } };
    expect(certaintyOf(provider, { confirmed })).toBe(level);
    expect(certaintyOf(provider, { confirmed: { 'proxy.base_url': page } })).toBe('unconfirmed');
  });
});

describe('the differences from other definitions', () => {
  it('are decided, each by the documentation', () => {
    expect(undecidedDifferences(differences, facts)).toEqual([]);
  });

  it('have decisions that their entries follow', () => {
    expect(contradictedDecisions(differences, facts, providers)).toEqual([]);
  });

  it('are reported where the decision is absent, or the entry has another value', () => {
    const [kept, changed] = [
      { entry: 'stripe', field: 'headers.stripe-version', ours: null, others: ['2024-06-20'] },
      { entry: 'calendly', field: 'token_auth_method', ours: 'body (default)', others: ['basic'] },
    ];
    const unknown = { ...kept, field: 'token_url' };
    expect(undecidedDifferences([kept, changed, unknown], facts)).toEqual(['stripe token_url']);
    const reversed = [
      { ...kept, ours: '2020-01-01' },
      { ...changed, ours: 'basic' },
    ];
    expect(contradictedDecisions([kept, changed], facts, providers)).toEqual([]);
    expect(contradictedDecisions(reversed, facts, providers)).toEqual([
      'stripe headers.stripe-version',
      'calendly token_auth_method',
    ]);
  });
});

describe('the versions that a definition pins', () => {
  const versionsOf = (definition: object): string[] =>
    pinnedVersions({ name: 'one', ...definition } as Provider).map(({ version }) => version);

  it.each([
    ['a segment of a path', { token_url: 'https://api.example/oauth/v1/token' }, 'v1'],
    ['a date in a path', { token_url: 'https://api.example/oauth/2026-03/token' }, '2026-03'],
    ['a number in a path', { proxy: { base_url: 'https://api.example/api/1.0' } }, '1.0'],
    ['a beta', { proxy: { verification: { endpoints: ['/v1beta/models'] } } }, 'v1beta'],
    ['a label of the host', { proxy: { base_url: 'https://v3.api.example' } }, 'v3'],
    ['a part of a name', { token_url: 'https://api.example/oauth.v2.access' }, 'v2'],
    ['a header', { proxy: { headers: { revision: '2026-10-15' } } }, '2026-10-15'],
    ['a media type', { proxy: { headers: { accept: 'application/vnd.api+json;version=2' } } }, '2'],
    ['a parameter', { proxy: { base_url: 'https://a.example/x?api-version=7.1' } }, '7.1'],
  ])('are found as %s', (_, definition, version) => {
    expect(versionsOf(definition)).toEqual([version]);
  });

  it('are not those of texts for people, of signatures and of dates in limits', () => {
    const signatures = [{ element: 'v1', prefix: 'v0=', message: 'v0:$timestamp:$body' }];
    const definition = {
      aliases: ['one-v2'],
      docs: 'https://api.example/docs/v3',
      proxy: { paginate: { limit: 100 }, base_url: 'https://api2.example' },
      webhook_routing: { signatures },
    };
    expect(versionsOf(definition)).toEqual([]);
  });
});
