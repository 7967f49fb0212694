import { describe, expect, it } from 'vitest';
import { translator } from '#modules/access/connect-ui/texts/translate.ts';
import { fieldProblems } from '#modules/connections/connect-page/browser/field-problem.ts';
import type { FormField } from '#modules/connections/connect-page/browser/field.ts';
import {
  connectForm,
  connectRequest,
  type ConnectForm,
  type FieldValues,
  type ProviderForm,
} from '#modules/connections/connect-page/browser/form.ts';
import { authModeRules } from '#modules/connections/credentials/modes/registry.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import { presentProvider } from '#modules/connections/providers/routes.ts';
import { authModes } from '#modules/connections/providers/schema-parts.ts';

const t = translator('en');
const field = (title: string, more: object = {}) =>
  ({ type: 'string', title, description: '', ...more }) as const;
const provider = (mode: Provider['auth_mode'], more: Partial<ProviderForm> = {}): ProviderForm => ({
  name: 'crm',
  display_name: 'CRM',
  auth_mode: mode,
  docs: 'https://docs.example',
  ...more,
});
const formOf = (of: ProviderForm, givenParams: readonly string[] = []): ConnectForm =>
  connectForm(of, { integrationKey: 'crm prod', givenParams, t });
const names = ({ fields }: ConnectForm): string[] => fields.map(({ name }) => name);
const filled = ({ fields }: ConnectForm, values: Record<string, string>): FieldValues =>
  new Map(fields.map((one) => [one, values[one.name] ?? '']));

const catalogue = loadCatalogue({ overlayPath: null }).all();

/** A value that a person could enter, by what the definition says of the field. */
function plausible(of: FormField): string {
  const [choice] = of.choices ?? [];
  if (choice !== undefined) return of.initial === '' ? choice.value : of.initial;
  if (of.example !== '') return of.example;
  if (of.initial !== '') return of.initial;
  const byFormat = {
    email: 'me@example.com',
    uri: 'https://example.com',
    hostname: 'api.example.com',
    uuid: '0d6c4f3e-6a57-4bb8-9a3b-0a5c1c2d3e4f',
  };
  if (of.format) return byFormat[of.format];
  const fits = [
    'acme',
    '12345',
    'ABC123',
    'amzn1.app',
    '0a1b:2c3d',
    'rzp_test',
    'SHA256:abc=',
    `AC${'0'.repeat(32)}`,
  ];
  return fits.find((text) => of.pattern === null || new RegExp(of.pattern).test(text)) ?? 'acme';
}

describe('a choice', () => {
  it('shows the titles of its values, and what to know before', () => {
    const host = field('Region', {
      enum: ['eu.example', 'us.example'],
      enum_titles: { 'eu.example': 'Europe' },
      warnings: ['It cannot be changed later.'],
    });
    const [shown] = formOf(provider('OAUTH2', { connection_config: { host } })).fields;
    expect(shown).toMatchObject({
      choices: [
        { value: 'eu.example', title: 'Europe' },
        { value: 'us.example', title: 'us.example' },
      ],
      warnings: ['It cannot be changed later.'],
    });
  });
});

describe('the form of a provider', () => {
  it.each(authModes)('of the mode %s sends what its endpoint takes', (mode) => {
    const { form: endpoint, redirect } = authModeRules[mode];
    const form = formOf(provider(mode));
    expect(form.kind).toBe(redirect === null ? 'direct' : 'redirect');
    if (endpoint === null) return;
    const values = new Map(form.fields.map((one) => [one, plausible(one)]));
    const { body } = connectRequest(form, values);
    const sent = endpoint.shape({ ...provider(mode), categories: [] });
    expect(sent.safeParse(body ?? {}).error?.issues).toBeUndefined();
  });

  it.each(catalogue.map((entry) => [entry.name, entry] as const))(
    'of %s can be filled in, and is accepted',
    (_name, entry) => {
      const shown: unknown = presentProvider(entry, 'https://gateway.example', 'en');
      const form = formOf(shown as ProviderForm);
      const values = new Map(form.fields.map((one) => [one, plausible(one)]));
      const problems = fieldProblems(values, t);
      expect([...problems.values()]).toEqual([]);
      const { body } = connectRequest(form, values);
      if (form.kind === 'redirect' || entry.installation === 'outbound') return;
      const { shape } = authModeRules[entry.auth_mode].form!;
      expect(shape(entry).safeParse(body ?? {}).error?.issues).toBeUndefined();
    },
  );

  it('asks for the configuration first, and not for what is filled in by others', () => {
    const form = formOf(
      provider('API_KEY', {
        connection_config: {
          region: field('Region', { enum: ['eu', 'us'] }),
          account: field('Account', { automated: true }),
          tenant: field('Tenant'),
        },
        credentials: { apiKey: field('Secret key', { secret: true }) },
      }),
      ['tenant'],
    );
    expect(names(form)).toEqual(['region', 'apiKey']);
    expect(form.path).toBe('/api-auth/api-key/crm%20prod');
    expect(form.fields[1]).toMatchObject({
      title: 'Secret key',
      isSecret: true,
      autocomplete: 'off',
    });
  });

  it('declares the fields of a login to browsers', () => {
    const form = formOf(provider('BASIC'));
    expect(form.fields.map(({ autocomplete }) => autocomplete)).toEqual([
      'username',
      'current-password',
    ]);
  });

  it('asks a field only while another has its value, and then sends it', () => {
    const form = formOf(
      provider('TWO_STEP', {
        credentials: {
          kind: field('Kind', { enum: ['user', 'app'] }),
          appId: field('App', { visible_when: { field: 'kind', equals: 'app' } }),
        },
      }),
    );
    const asUser = filled(form, { kind: 'user', appId: 'left over' });
    expect(fieldProblems(asUser, t).size).toBe(0);
    expect(connectRequest(form, asUser).body).toEqual({ kind: 'user' });
    const asApp = filled(form, { kind: 'app' });
    expect([...fieldProblems(asApp, t).values()]).toEqual(['Enter App.']);
  });

  it('sends an empty password, but no empty field that is optional', () => {
    const basic = formOf(provider('BASIC'));
    expect(connectRequest(basic, filled(basic, { username: 'me' })).body).toEqual({
      username: 'me',
      password: '',
    });
    const store = formOf(provider('APP_STORE'));
    const keys = { privateKeyId: 'k', issuerId: 'i', privateKey: 'p' };
    expect(connectRequest(store, filled(store, keys)).body).toEqual(keys);
    const scoped = filled(store, { ...keys, scope: 'GET /v1/apps, POST' });
    expect(connectRequest(store, scoped).body).toMatchObject({
      scope: ['GET', '/v1/apps', 'POST'],
    });
  });

  it('sends what is used once apart from what is kept', () => {
    const form = formOf(
      provider('TWO_STEP', {
        credentials: { user: field('User') },
        assertion_option: { pin: field('PIN') },
      }),
    );
    expect(connectRequest(form, filled(form, { user: 'me', pin: '42' })).body).toEqual({
      user: 'me',
      assertionOption: { pin: '42' },
    });
  });

  it('asks clients with a certificate for it', () => {
    const form = formOf(provider('OAUTH2_CC', { require_client_certificate: true }));
    expect(names(form)).toEqual([
      'client_id',
      'client_secret',
      'client_certificate',
      'client_private_key',
    ]);
    expect(form.fields.map(({ isLong }) => isLong)).toEqual([false, false, true, true]);
  });

  it('asks nothing where the app is installed from the other side', () => {
    const form = formOf(provider('OAUTH2', { installation: 'outbound' }));
    expect(form).toMatchObject({
      kind: 'direct',
      fields: [],
      path: '/auth/oauth-outbound/crm%20prod',
    });
    expect(connectRequest(form, new Map())).toEqual({ params: {}, body: null });
  });
});

describe('a field that is not right', () => {
  const form = formOf(
    provider('API_KEY', {
      connection_config: {
        subdomain: field('Subdomain', { pattern: '^[a-z]+$', example: 'acme' }),
        host: field('Host', { format: 'hostname', optional: true }),
      },
    }),
  );
  const problems = (values: Record<string, string>) => [
    ...fieldProblems(filled(form, { apiKey: 'k', subdomain: 'acme', ...values }), t).values(),
  ];

  it('is named, with what is wrong', () => {
    expect(problems({})).toEqual([]);
    expect(problems({ apiKey: '' })).toEqual(['Enter API key.']);
    expect(problems({ subdomain: 'A C' })).toEqual([
      'Subdomain does not have the expected format, for example acme.',
    ]);
    expect(problems({ host: 'not a host' })).toEqual([
      'Host must be a host name, such as api.example.com.',
    ]);
    expect(problems({ apiKey: 'k'.repeat(1025) })).toEqual([
      'API key is too long: 1024 characters at most.',
    ]);
  });
});
