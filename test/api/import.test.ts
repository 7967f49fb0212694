import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '#cli/import/report.ts';
import { inParallel } from '#cli/in-parallel.ts';
import { objectOf, type JsonObject } from '#kernel/stable-json.ts';
import { authModeRules } from '#modules/connections/credentials/modes/registry.ts';
import type { AuthMode } from '#modules/connections/providers/definition.ts';
import { authModes } from '#modules/connections/providers/schema-parts.ts';
import { freePort } from '#test/services/ports.ts';
import {
  openFakeGateway,
  shownConnectionOf,
  shownIntegration,
  type FakeGateway,
} from '#test/support/fakes/fake-gateway.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { commandLine, type Ended } from '#test/support/processes/command-line.ts';
import {
  providerOf,
  startAuthorizing,
  type AuthorizingApi,
} from '#test/support/worlds/authorizing.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';

const nameOf = (mode: AuthMode): string => `mode-${mode.toLowerCase().replaceAll('_', '-')}`;
const sourceKey = `source-${randomUUID()}`;
/** More than a page has, of the source or of the target. */
const total = roundsOf({ push: 520, all: 1_000 });

let api: AuthorizingApi;
let root: string;
let source: FakeGateway;
beforeAll(async () => {
  api = await startAuthorizing(
    authModes.map((mode) => ({ provider: providerOf(mode, { name: nameOf(mode) }) })),
  );
  root = mkdtempSync(join(tmpdir(), 'svc-import-'));
  source = await openFakeGateway(sourceKey);
});
afterAll(async () => {
  await source[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  rmSync(root, { recursive: true });
});

/** Runs the command; into prod, which is empty at first, unless another key is named. */
async function runImport(
  from: string,
  args: readonly string[] = ['--yes', '--json'],
  { key = api.keys.prod }: { readonly key?: string } = {},
): Promise<Ended & { readonly report: Report }> {
  const ended = await commandLine(['import', from, '-e', 'prod', ...args], {
    root,
    sandbox: null as never,
    variables: {
      SVC_HOSTPORT: api.url,
      SVC_SECRET_KEY_PROD: key,
      SVC_SOURCE_KEY: sourceKey,
    },
  });
  const isJson = ended.out.startsWith('{');
  return { ...ended, report: (isJson ? JSON.parse(ended.out) : null) as Report };
}

const secretsOf = (entries: readonly JsonObject[]): string[] =>
  entries.flatMap((entry) => textsIn(entry['credentials'])).filter((text) => text.length > 8);

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Other entries than before; the target keeps what it has. */
function sourceWith(
  lists: Partial<Pick<FakeGateway, 'integrations' | 'connections' | 'syncs' | 'variables'>>,
): void {
  for (const name of ['integrations', 'connections', 'syncs', 'variables'] as const) {
    source[name].splice(0, Infinity, ...(lists[name] ?? []));
  }
  source.pageOf = (page) => page;
}

const integration = (mode: AuthMode): JsonObject =>
  shownIntegration(nameOf(mode), api.played(nameOf(mode)));
const connectionOf = (mode: AuthMode, id: string, more: JsonObject = {}): JsonObject =>
  shownConnectionOf(nameOf(mode), api.played(nameOf(mode)), id, more);

describe(`the import of a gateway with ${total} connections`, () => {
  it('brings every one of them usable, and nothing twice', async () => {
    sourceWith({
      integrations: authModes.map(integration),
      connections: Array.from({ length: total }, (_, n) =>
        connectionOf(authModes[n % authModes.length]!, `c ${n}/e`),
      ),
    });
    const first = await runImport(source.url);
    expect(first.report.problems).toEqual([]);
    expect(first.exitCode).toBe(0);
    expect(first.report.counts.integrations.create).toBe(authModes.length);
    expect(first.report.counts.connections.create).toBe(total);
    const again = await runImport(source.url);
    expect(again.report.problems).toEqual([]);
    expect(again.report.changes).toEqual([]);
    expect(again.report.counts.connections.unchanged).toBe(total);

    const failed = await inParallel(source.connections, async (one) => {
      const name = one['provider_config_key'] as string;
      const id = one['connection_id'] as string;
      const outcome = await used(name, id);
      return outcome === null ? [] : [`${name}/${id}: ${outcome}`];
    });
    expect(failed.flat()).toEqual([]);
    const text = first.out + first.err + again.out;
    expect(secretsOf(source.connections).filter((secret) => text.includes(secret))).toEqual([]);
    expect(text).not.toContain(sourceKey);
    // The other environment has the same integrations, and nothing came into it.
    expect((await api.call('GET', '/connections')).at('connections')).toEqual([]);
  });

  it('keeps tokens that were renewed here, and takes over what a person changed there', async () => {
    const [renewed, reconnected, described] = ['renewed', 'reconnected', 'described'].map((id) =>
      connectionOf('OAUTH2', id),
    );
    const keyed = connectionOf('API_KEY', 'keyed');
    const connections = [renewed!, reconnected!, described!, keyed];
    const integrations = [integration('OAUTH2'), integration('API_KEY')];
    sourceWith({ integrations, connections });
    await runImport(source.url);
    // All of them were renewed here: the tokens of the source are older.
    for (const id of ['renewed', 'reconnected', 'described']) {
      expect(await used(nameOf('OAUTH2'), id)).toBeNull();
    }
    const later = objectOf(connectionOf('OAUTH2', 'reconnected')['credentials']);
    const end = new Date(Date.now() + 86_400_000).toISOString();
    source.connections[1] = { ...reconnected, credentials: { ...later, expires_at: end } };
    source.connections[2] = {
      ...described,
      metadata: { plan: 'free' },
      tags: { team: 'y' },
      end_user: { id: 'other', email: null, display_name: 'Grace', tags: {}, organization: null },
    };
    source.integrations[1] = { ...source.integrations[1], display_name: 'Keys' };
    const { report, out } = await runImport(source.url);
    expect(report.problems).toEqual([]);
    expect(report.changes).toEqual([
      { kind: 'integrations', id: nameOf('API_KEY'), action: 'update', fields: ['display_name'] },
      {
        kind: 'connections',
        id: `${nameOf('OAUTH2')}/described`,
        action: 'update',
        fields: ['metadata', 'end_user', 'tags'],
      },
      {
        kind: 'connections',
        id: `${nameOf('OAUTH2')}/reconnected`,
        action: 'update',
        fields: ['credentials'],
      },
    ]);
    expect(out).not.toContain(later['access_token']);
    const path = `/connections/described?provider_config_key=${nameOf('OAUTH2')}`;
    const shown = await api.call('GET', path, { key: key() });
    expect(shown.at('metadata')).toEqual({ plan: 'free' });
    expect(shown.at('end_user.display_name')).toBe('Grace');
    expect(shown.at('created_at')).toBe('2026-01-02T03:04:05.000+00:00');
    expect((await runImport(source.url)).report.changes).toEqual([]);
    for (const id of ['renewed', 'reconnected'])
      expect(await used(nameOf('OAUTH2'), id)).toBeNull();
  });
});

describe('an import reports what cannot come', () => {
  it('each with its reason, and brings the others', async () => {
    const masked = objectOf(integration('OAUTH1')['credentials']);
    const oauth = { ...objectOf(connectionOf('OAUTH2', 'x')['credentials']) };
    const { refresh_token: _none, ...alone } = oauth;
    const taken = { provider: nameOf('BASIC'), unique_key: 'taken' };
    await api.call('POST', '/integrations', { key: key(), body: taken });
    const hostile = '<img src=x>\u001b[2J';
    sourceWith({
      integrations: [
        integration('OAUTH2'),
        integration('API_KEY'),
        integration('CUSTOM'),
        {
          ...integration('OAUTH1'),
          unique_key: 'masked',
          credentials: { ...masked, client_secret: '****1234' },
        },
        { ...integration('API_KEY'), unique_key: 'unknown', provider: 'not-in-the-catalog' },
        { ...integration('API_KEY'), unique_key: 'taken' },
        { ...integration('API_KEY'), unique_key: hostile },
        'no object' as never,
      ],
      connections: [
        connectionOf('API_KEY', 'good'),
        connectionOf('API_KEY', 'masked', { credentials: { type: 'API_KEY', apiKey: '********' } }),
        connectionOf('API_KEY', 'hidden', { credentials: {} }),
        connectionOf('API_KEY', 'other mode', {
          credentials: { type: 'BASIC', username: 'u', password: 'p' },
        }),
        connectionOf('API_KEY', 'failing', { errors: [{ type: 'auth', log_id: '1' }] }),
        connectionOf('API_KEY', hostile),
        connectionOf('API_KEY', '..'),
        connectionOf('API_KEY', 'x'.repeat(300)),
        connectionOf('API_KEY', 'tagged', { tags: { '9': 'starts with a digit' } }),
        { ...connectionOf('API_KEY', 'lost'), provider_config_key: 'unknown' },
        { ...connectionOf('API_KEY', 'no name'), connection_id: { toString: 1 } },
        connectionOf('OAUTH2', 'alone', { credentials: alone }),
        connectionOf('OAUTH2', 'over', {
          credentials: { ...alone, expires_at: '2020-01-01T00:00:00Z' },
        }),
        connectionOf('CUSTOM', 'pending', { connection_config: { pending: true } }),
        connectionOf('API_KEY', 'gone'),
      ],
    });
    source.disturb(`/connections/gone`, { status: 404 });
    const ended = await runImport(source.url);
    const list = ended.report.problems.map(({ kind, id, code, came }) => [kind, id, code, came]);
    const apiKeys = nameOf('API_KEY');
    expect(list.sort()).toEqual(
      [
        ['integrations', '?', 'source_failed', false],
        ['integrations', hostile, 'invalid', false],
        ['integrations', 'masked', 'masked_secret', false],
        ['integrations', 'taken', 'provider_differs', false],
        ['integrations', 'unknown', 'unknown_provider', false],
        ['connections', `${apiKeys}/masked`, 'masked_secret', false],
        ['connections', `${apiKeys}/hidden`, 'missing_credentials', false],
        ['connections', `${apiKeys}/other mode`, 'auth_mode', false],
        ['connections', `${apiKeys}/failing`, 'failing_at_source', true],
        ['connections', `${apiKeys}/${hostile}`, 'invalid', false],
        ['connections', `${apiKeys}/..`, 'source_failed', false],
        ['connections', `${apiKeys}/${'x'.repeat(300)}`, 'invalid', false],
        ['connections', `${apiKeys}/tagged`, 'refused', false],
        ['connections', 'unknown/lost', 'no_integration', false],
        ['connections', `${apiKeys}/?`, 'source_failed', false],
        ['connections', `${nameOf('OAUTH2')}/alone`, 'no_refresh_token', true],
        ['connections', `${nameOf('OAUTH2')}/over`, 'expired', false],
        ['connections', `${nameOf('CUSTOM')}/pending`, 'not_finished', false],
        ['connections', `${apiKeys}/gone`, 'source_failed', false],
      ].sort(),
    );
    expect(ended.exitCode).toBe(5);
    expect(ended.report.counts.connections).toMatchObject({ create: 3, failed: 12 });
    const text = await runImport(source.url, ['--dry-run']);
    expect(text.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(text.out).toContain('\\x1b[2J');
    expect(text.out).toContain('masked_secret: the source returns a secret masked (2)');
  });

  it('and takes a masked secret of an integration from a file', async () => {
    const whole = integration('OAUTH2');
    const credentials = objectOf(whole['credentials']);
    sourceWith({
      integrations: [
        {
          ...whole,
          unique_key: 'with-secrets',
          credentials: { ...credentials, client_secret: '***' },
        },
      ],
      connections: [{ ...connectionOf('OAUTH2', 'one'), provider_config_key: 'with-secrets' }],
    });
    writeFileSync(join(root, 'secrets.json'), JSON.stringify({ 'with-secrets': credentials }));
    const ended = await runImport(source.url, ['--yes', '--json', '--secrets', 'secrets.json']);
    expect(ended.report.problems).toEqual([]);
    expect(await used('with-secrets', 'one')).toBeNull();
    expect(ended.out + ended.err).not.toContain(credentials['client_secret']);
  });
});

describe('an import of a source that misbehaves', () => {
  const some = (prefix: string, count: number): JsonObject[] =>
    Array.from({ length: count }, (_, n) => connectionOf('API_KEY', `${prefix}-${n}`));

  it('waits, tries again, and gets everything', async () => {
    sourceWith({ integrations: [integration('API_KEY')], connections: some('slow', 20) });
    source.disturb('/connections?', { status: 429, headers: { 'retry-after': '0' } }, 'cut');
    source.disturb('/integrations', { status: 500 });
    source.disturb('/connections/slow-3', { status: 200, body: '<html>busy</html>' });
    const { report } = await runImport(source.url);
    expect(report.problems).toEqual([]);
    expect(report.counts.connections.create).toBe(20);
  });

  it('reads lists to their end, whatever pages repeat', async () => {
    sourceWith({ integrations: [integration('API_KEY')], connections: some('page', 450) });
    source.pageOf = (page) => Math.floor(page / 2);
    const planned = await runImport(source.url, ['--dry-run', '--json']);
    expect(planned.report.problems).toEqual([]);
    expect(planned.report.counts.connections.create).toBe(450);
  });

  it('says why it cannot be read, without what the source repeats', async () => {
    sourceWith({});
    source.disturb('/integrations', { status: 403, body: `{"error":"${sourceKey}"}` });
    const refused = await runImport(source.url);
    expect(refused.exitCode).toBe(1);
    expect(refused.err).toContain('it answered 403');
    expect(refused.out + refused.err).not.toContain(sourceKey);
    const away = await runImport(`http://127.0.0.1:${await freePort()}`, ['--dry-run']);
    expect(away.err).toContain('it could not be reached (ECONNREFUSED) after 5 tries');
  });

  it('goes on where an interrupted run ended', async () => {
    sourceWith({ integrations: [integration('API_KEY')], connections: some('half', 60) });
    const stop = new AbortController();
    const running = commandLine(['import', source.url, '-e', 'prod', '--yes'], {
      root,
      sandbox: null as never,
      variables: { SVC_HOSTPORT: api.url, SVC_SECRET_KEY_PROD: key(), SVC_SOURCE_KEY: sourceKey },
      interrupt: stop.signal,
    });
    const came = async (): Promise<number> => {
      const found = await api.call('GET', '/connections?search=half-', { key: key() });
      return (found.at('connections') as unknown[]).length;
    };
    await eventually(came, (count) => count > 5);
    stop.abort();
    const ended = await running;
    expect([ended.exitCode, ended.err]).toEqual([130, expect.stringContaining('run it again')]);
    const before = await came();
    const { report } = await runImport(source.url);
    expect(report.problems).toEqual([]);
    const { create, unchanged } = report.counts.connections;
    expect(create + unchanged).toBe(60);
    expect(unchanged).toBeGreaterThanOrEqual(before);
    expect(create).toBeGreaterThan(0);
    expect(await came()).toBe(60);
  });
});

const key = (): string => api.keys.prod;

/** Fetches the connection, renews it where its mode renews, and calls its provider; null when all of it succeeds. */
async function used(name: string, id: string): Promise<string | null> {
  const path = `/connections/${encodeURIComponent(id)}?provider_config_key=${name}`;
  const call = async (at: string, more: Readonly<Record<string, string>> = {}) => {
    const headers = { authorization: `Bearer ${key()}`, ...more };
    const answer = await fetch(api.url + at, { headers });
    return { status: answer.status, body: (await answer.json()) as JsonObject };
  };
  const shown = await call(path);
  if (shown.status !== 200) return `shown ${shown.status}`;
  const { metadata, end_user: user, provider } = shown.body;
  expect(metadata).toEqual({ plan: 'pro', of: id });
  expect(objectOf(user)['organization']).toEqual({ id: 'acme', display_name: 'Acme' });
  const mode = api.services.providers.find(provider as string)!.auth_mode;
  if (authModeRules[mode].renewal !== null) {
    const renewed = await call(`${path}&force_refresh=true`);
    if (renewed.status !== 200) return `renewed ${renewed.status} ${JSON.stringify(renewed.body)}`;
  }
  const named = { 'provider-config-key': name, 'connection-id': id };
  const { status } = await call('/proxy/v1/things', named);
  return status === 200 ? null : `proxied ${status}`;
}
