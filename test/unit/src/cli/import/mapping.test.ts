import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionCredentials } from '#cli/import/credentials.ts';
import { filledPath, loadMapping, readyMapping } from '#cli/import/mapping.ts';
import { HttpSource, openFileSource } from '#cli/import/source.ts';
import type { JsonObject } from '#kernel/stable-json.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-mapping-'));
});
afterAll(() => rmSync(root, { recursive: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(root, name), text);
  return name;
};

const other = `
headers: { x-key: '\${key}' }
providers: { their-crm: crm }
auth_modes: { oauth: { mode: OAUTH2, fields: { access_token: token.value } } }
integrations:
  list: { path: /apps, items: result.apps }
  fields: { unique_key: slug, provider: kind }
connections:
  file: accounts
  list: { path: /accounts, items: list, cursor: { parameter: after, at: next } }
  fields: { connection_id: name, provider_config_key: app, credentials: auth }
`;

describe('a mapping', () => {
  it('that is ready is valid itself', () => {
    expect(loadMapping(root, file('ready.json', readyMapping()))).toEqual(
      loadMapping(root, undefined),
    );
  });

  it('names each place that does not fit', () => {
    const wrong = file('wrong.yaml', 'integrations: { list: { path: apps } }\nconections: {}\n');
    expect(() => loadMapping(root, wrong)).toThrow(
      /wrong\.yaml is not valid:[^]*connections[^]*conections/,
    );
    expect(() => loadMapping(root, 'missing.yaml')).toThrow('Could not read the mapping');
  });

  it('reads an API of another shape, page by page, and only with its key', async () => {
    const mapping = loadMapping(root, file('other.yaml', other));
    const pages: Record<string, object> = {
      '/accounts': { list: [{ name: 'a', app: 'crm' }, 'garbage'], next: 'n1' },
      '/accounts?after=n1': {
        list: [
          { name: 'a', app: 'crm' },
          { name: 'b', app: 'crm' },
        ],
        next: '',
      },
    };
    const server = createServer((request, response) => {
      const body = request.headers['x-key'] === 'the key' ? pages[request.url ?? ''] : undefined;
      response.writeHead(body === undefined ? 403 : 200).end(JSON.stringify(body ?? null));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { signal } = new AbortController();
    const source = new HttpSource({ url, key: 'the key', mapping, signal, firstWaitMs: 1 });
    const { entries, gaps } = await source.list('connections');
    expect(entries).toEqual([
      { connection_id: 'a', provider_config_key: 'crm' },
      { connection_id: 'b', provider_config_key: 'crm' },
    ]);
    expect(gaps).toEqual(['1 entries are no objects']);
    const refused = new HttpSource({ url, key: 'another', mapping, signal, firstWaitMs: 1 });
    await expect(refused.list('connections')).rejects.toThrow('it answered 403');
    server.closeAllConnections();
    server.close();
  });

  it('reads a file, whose text no error repeats', async () => {
    const mapping = loadMapping(root, file('other.yaml', other));
    const content = { accounts: [{ name: 'a', app: 'crm', auth: { type: 'oauth' } }] };
    const source = openFileSource(root, file('data.json', JSON.stringify(content)), mapping);
    expect((await source.list('connections')).entries).toMatchObject([{ connection_id: 'a' }]);
    expect((await source.list('integrations')).entries).toEqual([]);
    expect(() => openFileSource(root, file('bad.json', '{"apiKey":"secret'), mapping)).toThrow(
      /^Could not read bad\.json: it is not JSON$/,
    );
  });

  it('maps types of credentials and their fields', () => {
    const mapping = loadMapping(root, file('other.yaml', other));
    const entry = { credentials: { type: 'oauth', token: { value: 'at' } } };
    const { credentials } = connectionCredentials(mapping, { auth_mode: 'OAUTH2' }, entry, 0);
    expect(credentials).toEqual({ type: 'OAUTH2', access_token: 'at' });
  });

  it.each<[JsonObject, string | null]>([
    [{ id: 'a b/c' }, '/x/a%20b%2Fc'],
    [{ id: '..' }, null],
    [{ id: '' }, null],
    [{ id: '\ud800' }, null],
    [{}, null],
    [{ id: { a: 1 } }, null],
  ])('fills a path with %j as %s', (values, path) => {
    expect(filledPath('/x/${id}', values)).toBe(path);
  });
});

describe('a masked secret', () => {
  const of = (apiKey: string) => () =>
    connectionCredentials(
      loadMapping(root, undefined),
      { auth_mode: 'API_KEY' },
      { credentials: { type: 'API_KEY', apiKey } },
      0,
    );

  it.each(['***', '****1234', 'sk-••••', 'xxxxxxxx', '[redacted]', 'REDACTED', '<hidden>'])(
    'is %s',
    (text) => expect(of(text)).toThrow('Its apiKey is masked'),
  );

  it.each(['xyz', 'secret', 'hidden', 'a*b**c', 'sk-1234'])('is not %s', (text) =>
    expect(of(text)).not.toThrow(),
  );
});
