import { describe, expect, it } from 'vitest';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { type EntryFacts, readFacts, versionRows, type VersionRow } from '#test/catalogue/facts.ts';
import {
  rateLimitProblems,
  refreshProblems,
  retryProblems,
  versionProblems,
  webhookProblems,
} from '#test/catalogue/lints.ts';
import { builtInCatalogue } from '#test/support/worlds/catalogue.ts';

const providers = builtInCatalogue().all();
const facts = readFacts();

const entryOf = (name: string, definition: object): Provider =>
  ({ name, ...definition }) as unknown as Provider;

describe('what brings a refresh token', () => {
  it('is asked for by every entry of an authorization address that demands it', () => {
    expect(refreshProblems(providers, facts)).toEqual([]);
  });

  it('is a fact of one entry for each address', () => {
    const known = [...facts.values()].flatMap((entries) =>
      Object.entries(entries)
        .filter(([, { refresh_needs: needs }]) => needs !== undefined)
        .map(([entry]) => providers.find(({ name }) => name === entry)?.authorization_url),
    );
    expect(known).not.toEqual([]);
    expect(known).toEqual([...new Set(known)]);
  });

  const url = 'https://a.example/authorize';
  const needs = (need: string): ReadonlyMap<string, Record<string, EntryFacts>> =>
    new Map([['file.yaml', { one: { refresh_needs: { [need]: { sources: 2 } } } }]]);

  it.each([
    ['scope offline_access', { default_scopes: ['offline_access', 'read'] }],
    ['param access_type=offline', { authorization_params: { access_type: 'offline' } }],
  ])('is missed in an entry of the same address: %s', (need, asking) => {
    const one = entryOf('one', { authorization_url: url, ...asking });
    const other = entryOf('other', { authorization_url: url, default_scopes: ['read'] });
    const elsewhere = entryOf('elsewhere', { authorization_url: 'https://b.example/authorize' });
    expect(refreshProblems([one, other, elsewhere], needs(need))).toEqual([`other: ${need}`]);
    const wrong = { ...one, authorization_params: { access_type: 'online' }, default_scopes: [] };
    expect(refreshProblems([wrong], needs(need))).toEqual([`one: ${need}`]);
  });

  it('is refused of an entry without an authorization address', () => {
    const one = entryOf('one', {});
    expect(() => refreshProblems([one], needs('scope offline'))).toThrow('one: refresh_needs');
  });
});

describe('the headers of a limit', () => {
  it('have the unit of the field in which they stand', () => {
    expect(providers.flatMap(retryProblems)).toEqual([]);
  });

  it.each([
    [{ at: ['retry-after'] }, 'one: retry-after has seconds'],
    [{ at: ['X-RateLimit-Retry-After'] }, 'one: X-RateLimit-Retry-After has seconds'],
    [{ after: ['x-ratelimit-reset'] }, 'one: x-ratelimit-reset has time'],
    [{ after: ['x-own-reset'] }, 'one: unknown unit of x-own-reset'],
    [{ at: ['x-own-reset'] }, 'one: unknown unit of x-own-reset'],
  ])('are refused as %j', (retry, problem) => {
    expect(retryProblems(entryOf('one', { proxy: { retry } }))).toEqual([problem]);
  });

  it('have the unit of their entry where that differs', () => {
    const of = (field: string): Provider =>
      entryOf('datadog', { proxy: { retry: { [field]: ['x-ratelimit-reset'] } } });
    expect(retryProblems(of('after'))).toEqual([]);
    expect(retryProblems(of('at'))).toEqual(['datadog: x-ratelimit-reset has seconds']);
  });
});

describe('the limit of requests that an entry declares', () => {
  it('is that of a page of the provider', () => {
    expect(rateLimitProblems(providers, facts)).toEqual([]);
  });

  const entry = (requests: number, seconds: number, per = 'connection'): Provider =>
    entryOf('one', { proxy: { rate_limit: { requests, seconds, per } } });
  const stated = (value: string): ReadonlyMap<string, Record<string, EntryFacts>> => {
    const page = { of: 'account', page: 'https://a.example/limits', read_at: '2026-11-28' };
    return new Map([['file.yaml', { one: { rate_limit: { value, ...page } } }]]);
  };

  it.each([
    [entry(5, 1), '5/1/connection', []],
    [entry(5, 1, 'integration'), '5/1', []],
    [entry(5, 1), '6/1/connection', ['one: 5/1/connection is declared, 6/1/connection stated']],
    [entry(5, 1, 'integration'), '5/1/connection', ['one: 5/1 is declared, 5/1/connection stated']],
    [entry(9, 3600), '9/3600/connection', ['one: 9/3600/connection has a span over 15 minutes']],
    [entryOf('one', {}), '5/1', ['one: not declared: 5/1']],
  ])('is refused where it is another, or too long: %j, %s', (provider, value, problems) => {
    expect(rateLimitProblems([provider], stated(value))).toEqual(problems);
  });

  it('is refused without a page', () => {
    const problems = ['one: 5/1/connection is declared, nothing stated'];
    expect(rateLimitProblems([entry(5, 1)], new Map())).toEqual(problems);
  });
});

describe('what a rule of webhooks matches', () => {
  it('is written by a field of the entry, by the API or by the service', () => {
    expect(providers.flatMap(webhookProblems)).toEqual([]);
  });

  const entryWith = (property: string, definition: object): Provider =>
    entryOf('one', { webhook_routing: { connection: [{ property }] }, ...definition });

  it.each([
    ['account', {}],
    ['account', { connection_configuration: ['account'] }],
    ['team.id', { token_response_metadata: ['team'] }],
    ['installation_id', { auth_mode: 'OAUTH2' }],
    ['portalId', {}],
  ])('is refused as %s of %j', (property, definition) => {
    expect(webhookProblems(entryWith(property, definition))).toEqual([`one: ${property}`]);
  });

  it.each([
    ['connectionId', {}],
    ['metadata.account', {}],
    ['account', { connection_config: { account: { type: 'string' } } }],
    ['team.id', { token_response_metadata: ['team.id'] }],
    ['account', { refresh_token_response_metadata: ['account'] }],
    ['account', { redirect_uri_metadata: ['account'] }],
    ['account', { connection_lookup: [{ connection_config: { account: { path: 'id' } } }] }],
    ['installation_id', { auth_mode: 'APP' }],
  ])('has a writer as %s of %j', (property, definition) => {
    expect(webhookProblems(entryWith(property, definition))).toEqual([]);
  });
});

describe('the end of a version', () => {
  it('is the same for every entry of the API', () => {
    expect(versionProblems(providers, versionRows(facts))).toEqual([]);
  });

  const rowOf = (entry: string, fields: string[], end: string | null): VersionRow => {
    const source = 'https://a.example/docs';
    return { entry, version: 'v2', fields, checked_at: '2026-11-27', expires_at: end, source };
  };
  const base = 'https://a.example/v2';

  it.each([
    ['a base', { proxy: { base_url: base } }, 'proxy.base_url'],
    [
      'a path',
      { proxy: { base_url: 'https://a.example', verification: { endpoints: ['/v2/me'] } } },
      'proxy.verification.endpoints.0',
    ],
  ])('is missed where another entry has it in %s', (_, definition, field) => {
    const entries = [entryOf('one', { proxy: { base_url: base } }), entryOf('two', definition)];
    const one = rowOf('one', ['proxy.base_url'], '2027-01-01');
    expect(versionProblems(entries, [rowOf('two', [field], null), one])).toEqual(['two v2']);
    expect(versionProblems(entries, [one, rowOf('two', [field], '2027-01-01')])).toEqual([]);
  });

  it('is of a header together with the host', () => {
    const of = (name: string, host: string): Provider =>
      entryOf(name, { proxy: { base_url: `https://${host}`, headers: { 'x-version': 'v2' } } });
    const entries = [of('one', 'a.example'), of('two', 'a.example'), of('three', 'b.example')];
    const [one, two, three] = [
      rowOf('one', ['proxy.headers.x-version'], '2027-01-01'),
      rowOf('two', ['proxy.headers.x-version'], null),
      rowOf('three', ['proxy.headers.x-version'], null),
    ];
    expect(versionProblems(entries, [one, two, three])).toEqual(['two v2']);
  });
});
