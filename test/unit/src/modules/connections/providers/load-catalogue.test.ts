import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withAliasedFields } from '#modules/connections/providers/field-check.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import { authModes } from '#modules/connections/providers/schema-parts.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-providers-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const minimal = (more = '') => `
crm:
  display_name: CRM
  categories: [crm]
  auth_mode: NONE
  docs: https://docs.example
${more}`;

const mistakesOf = (text: string) => {
  const overlayPath = write('own.yaml', text);
  try {
    loadCatalogue({ overlayPath });
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('the built-in catalog', () => {
  const catalogue = loadCatalogue({ overlayPath: null });

  it('is in order of names and covers every mode and kind of pagination', () => {
    const names = catalogue.all().map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    const modes = new Set(catalogue.all().map(({ auth_mode }) => auth_mode));
    expect(modes).toEqual(new Set(authModes));
    const types = new Set(catalogue.all().flatMap(({ proxy }) => proxy?.paginate?.type ?? []));
    expect(types).toEqual(new Set(['cursor', 'link', 'offset']));
  });

  it('describes at least 150 APIs, not counting second ways into the same one', () => {
    const documented = new Set(catalogue.all().map(({ docs }) => docs));
    expect(documented.size).toBeGreaterThanOrEqual(150);
  });

  it('resolves aliases: own fields win over those of the target', () => {
    const sandbox = catalogue.find('salesforce-sandbox');
    expect(sandbox?.proxy).toEqual(catalogue.find('salesforce')?.proxy);
    expect(sandbox?.display_name).toBe('Salesforce (sandbox)');
    expect(sandbox).not.toHaveProperty('alias');
  });

  it('finds entries by their other names', () => {
    expect(catalogue.find('google-mail')?.name).toBe('gmail');
    expect(catalogue.all().filter(({ name }) => name === 'google-mail')).toEqual([]);
  });

  it('finds each entry by each of its other names, and each field by one', () => {
    const found = catalogue
      .all()
      .flatMap(({ name, aliases = [] }) =>
        aliases.map((alias) => [alias, name, catalogue.find(alias)?.name]),
      );
    expect(found.length).toBeGreaterThanOrEqual(30);
    // An entry of that name is of another mode: an import takes the one that has the mode of the credentials.
    const shadowed = found.filter(([, name, resolved]) => resolved !== name);
    const modeOf = (name = '') => catalogue.find(name)?.auth_mode;
    expect(shadowed.filter(([alias, name]) => modeOf(name) === modeOf(alias))).toEqual([]);
    const fields = catalogue.all().flatMap((provider) => {
      const { name: entry, connection_config: own = {} } = provider;
      return Object.entries(own).flatMap(([field, { aliases = [] }]) =>
        aliases.map((alias) => {
          const values = withAliasedFields(provider, { [alias]: 'value' });
          return [`${entry}.${alias}`, values[field], Object.hasOwn(own, alias)];
        }),
      );
    });
    expect(fields.length).toBeGreaterThanOrEqual(20);
    expect(fields.filter(([, value, isOwn]) => value !== 'value' || isOwn)).toEqual([]);
  });

  it('knows nothing by names of the prototype', () => {
    expect(catalogue.find('constructor')).toBeNull();
  });
});

describe('an overlay', () => {
  it('adds, replaces and aliases definitions, as YAML or JSON, file or folder', () => {
    write('a.yaml', minimal());
    const own = { alias: 'github', display_name: 'GitHub Enterprise' };
    write('b.json', JSON.stringify({ 'github-own': own, slack: { alias: 'crm' } }));
    write('readme.txt', 'not read');
    const catalogue = loadCatalogue({ overlayPath: folder });
    expect(catalogue.find('crm')?.display_name).toBe('CRM');
    expect(catalogue.find('github-own')?.proxy).toEqual(catalogue.find('github')?.proxy);
    expect(catalogue.find('slack')?.auth_mode).toBe('NONE');
    expect(loadCatalogue({ overlayPath: join(folder, 'a.yaml') }).find('crm')).not.toBeNull();
  });

  it('has a name before an alias of it, and inherits no other names', () => {
    const own = { alias: 'google-mail', display_name: 'Mail' };
    write('a.json', JSON.stringify({ mail: own, 'active-campaign': own }));
    const catalogue = loadCatalogue({ overlayPath: folder });
    expect(catalogue.find('mail')?.proxy).toEqual(catalogue.find('gmail')?.proxy);
    expect(catalogue.find('mail')).not.toHaveProperty('aliases');
    expect(catalogue.find('google-mail')?.name).toBe('gmail');
    expect(catalogue.find('active-campaign')?.display_name).toBe('Mail');
  });

  it('may name its schema for editors', () => {
    const overlayPath = write(
      'own.json',
      '{"$schema":"./provider.schema.json","own":{"alias":"slack"}}',
    );
    expect(loadCatalogue({ overlayPath }).find('own')).not.toBeNull();
  });

  it.each([
    [
      'an unknown field',
      minimal('  proxi: {}'),
      'own.yaml: crm.proxi: unknown field, allowed: proxy',
    ],
    [
      'an unknown inner field',
      minimal('  proxy: {paginate: {kind: link}}'),
      'own.yaml: crm.proxy.paginate.kind: unknown field, allowed: type, ',
    ],
    [
      'a wrong type',
      minimal('  scope_separator: 3'),
      'own.yaml: crm.scope_separator: expected string, got number',
    ],
    [
      'a wrong value deep in a list',
      minimal('  webhook_routing: {signatures: [{scheme: magic}]}'),
      'own.yaml: crm.webhook_routing.signatures.0.scheme: expected one of "hmac", "digest", ',
    ],
    [
      'a wrong field of one of several kinds',
      minimal('  webhook_routing: {connection: {property: a, identifier: [{heder: x}]}}'),
      'own.yaml: crm.webhook_routing.connection.identifier.0.heder: unknown field, allowed: body, header',
    ],
    [
      'an address that is none',
      minimal('  webhook_routing: {signatures: [{scheme: jwt, jwt: {keys_url: x, issuers: [a]}}]}'),
      'own.yaml: crm.webhook_routing.signatures.0.jwt.keys_url: must match format "uri", got "x"',
    ],
    [
      'a name that would be dropped',
      minimal('  token_params: {__proto__: x}'),
      'own.yaml: crm.token_params.__proto__: not a valid name, expected any name but `__proto__`',
    ],
    [
      'a field of a mode that is not offered',
      minimal('  client_registration: dynamic'),
      'own.yaml: crm.client_registration: unknown field',
    ],
    ['a missing field', 'crm: {display_name: CRM}', 'own.yaml: crm.auth_mode: required'],
    [
      'an unknown mode',
      minimal().replace('NONE', 'MAGIC'),
      'own.yaml: crm.auth_mode: expected one of "OAUTH1", ',
    ],
    [
      'a bad name',
      minimal().replace('crm:', 'C_R.M:'),
      'own.yaml: C_R.M: not a valid name, expected a-z, 0-9 and -, at most 255 characters',
    ],
    ['an alias of nothing', 'x: {alias: nobody}', 'own.yaml: x.alias: no provider of this name'],
    ['an alias of a later one', `x: {alias: crm}\n${minimal()}`, 'own.yaml: x.alias: no provider'],
    [
      'another name that a second entry has',
      `${minimal()}  aliases: [google-mail]`,
      'gmail.aliases: "google-mail" is an alias of crm too',
    ],
    [
      'the title of a value that cannot be chosen',
      minimal(
        '  connection_config: {region: {type: string, title: Region, description: d, enum: [eu], enum_titles: {us: America}}}',
      ),
      'own.yaml: crm.connection_config.region.enum_titles: "us" is not in enum',
    ],
    ['an alias that is no name', 'x: {alias: 3}', 'own.yaml: x.alias: expected string, got number'],
    ['no map', '- a\n- b', 'own.yaml: expected object, got array'],
    ['no content', '', 'own.yaml: expected object, got null'],
    ['no definition', 'crm: 3', 'own.yaml: crm: expected object, got number'],
    ['broken YAML', 'a: [', 'own.yaml: '],
    [
      'a value that nothing supplies',
      minimal('  proxy: {base_url: "https://${connectionConfig.site}.example"}'),
      'own.yaml: crm.proxy.base_url: ${connectionConfig.site} is not in connection_config',
    ],
    [
      'such a value deep inside',
      minimal('  token_params: {a: {b: "${connectionConfig.site}"}}'),
      'own.yaml: crm.token_params.a.b: ${connectionConfig.site} is not in connection_config',
    ],
    [
      'a credential that nobody is asked for',
      minimal('  token_params: {a: "${credentials.gone}"}').replace('NONE', 'TWO_STEP'),
      'own.yaml: crm.token_params.a: ${credentials.gone} is not in credentials',
    ],
    [
      'an unknown token',
      minimal('  proxy: {base_url: "https://a.example", headers: {a: "${magic}"}}'),
      'own.yaml: crm.proxy.headers.a: ${magic} is not a known token',
    ],
    [
      'no key field',
      minimal().replace('NONE', 'API_KEY'),
      'own.yaml: crm.credentials.apiKey: required by the mode API_KEY',
    ],
    [
      'an issuer of a mode whose callbacks name none',
      minimal('  authorization_issuer: https://a.example').replace('NONE', 'OAUTH1'),
      'own.yaml: crm.authorization_issuer: only allowed in the mode OAUTH2',
    ],
    [
      'a script that nobody wrote',
      minimal('  post_connection_script: magic'),
      'own.yaml: crm.post_connection_script: unknown script "magic"',
    ],
    [
      'two ways to verify',
      minimal('  credentials_verification_script: x\n  proxy: {verification: {endpoints: [/me]}}'),
      'own.yaml: crm.proxy.verification: cannot be combined',
    ],
  ])('with %s is refused, naming file, provider and field', (_what, text, expected) => {
    expect(mistakesOf(text)).toContain(expected);
  });

  it('reports every mistake at once', () => {
    const lines = mistakesOf('a: {display_name: 3}\nb: {alias: nobody}').split('\n');
    expect(lines.filter((line) => line.includes(': a.')).length).toBeGreaterThan(1);
    expect(lines.filter((line) => line.includes(': b.'))).toHaveLength(1);
  });

  it('that does not exist is named', () => {
    expect(() => loadCatalogue({ overlayPath: join(folder, 'gone') })).toThrow(
      /gone: no such file/,
    );
  });
});
