import { checkSync } from 'recheck';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '#adapters/sandbox/guest/http.ts';
import { paginate } from '#adapters/sandbox/guest/paginate.ts';
import { typedInto } from '#fake-providers/fill.ts';
import { rows } from '#fake-providers/pages.ts';
import type { PlayedProvider } from '#fake-providers/play.ts';
import { openFakeAuth, type FakeAuth } from '#fake-providers/server.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { acceptCredentials } from '#modules/connections/connections/accept-credentials.ts';
import type { Credentials } from '#modules/connections/connections/state.ts';
import type { ObtainedCredentials } from '#modules/connections/credentials/modes/mode.ts';
import { retryWaitMs } from '#modules/connections/providers/call-retry.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { fieldProblem } from '#modules/connections/providers/field-check.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import type { HttpClient } from '#ports/http-client.ts';
import { interpolateUrl } from '#rules/interpolate.ts';
import { callerOf, type Caller } from '#test/support/fakes/fake-auth/caller.ts';
import { openHttpClient } from '#test/support/fakes/webhook-receiver.ts';

const providers = loadCatalogue({ overlayPath: null }).all();

let stack: AsyncDisposableStack;
let fake: FakeAuth;
let http: HttpClient;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  fake = stack.use(await openFakeAuth());
  http = stack.use(await openHttpClient());
});
afterAll(() => stack.disposeAsync());

describe.each(providers.map((provider) => [provider.name, provider] as const))(
  'the entry %s',
  (_, provider) => {
    it('has patterns that take linear time for any text', () => {
      const slow = patternsOf(provider).filter(
        (pattern) => checkSync(pattern, '').status !== 'safe',
      );
      expect(slow).toEqual([]);
    });

    it('has addresses that its fields fill in', () => {
      expect(problemsOfAddresses(provider)).toEqual([]);
      expect(new URL(provider.docs).protocol).toBe('https:');
      expect(new URL(provider.setup_guide_url ?? provider.docs).protocol).toBe('https:');
    });

    it('describes scopes that an integration may have, all of its own defaults included', () => {
      const { scope_descriptions: descriptions = {}, default_scopes: defaults = [] } = provider;
      const described = Object.keys(descriptions);
      // RFC 6749 section 3.3, without the comma.
      expect(described.filter((scope) => !/^[!#-+\--[\]-~]+$/.test(scope))).toEqual([]);
      if (described.length > 0) expect(described).toEqual(expect.arrayContaining([...defaults]));
    });

    it('has fields that a person can fill in, with secrets masked', () => {
      expect(problemsOfFields(provider)).toEqual([]);
    });

    it('connects in every way of its mode, calls, and renews', async () => {
      const played = fake.play(provider, { installsApp: true });
      const caller = callerOf(played, http);
      for (const obtained of await everyWay(caller, played)) {
        const whole = await acceptCredentials(caller.context(), {
          integration: { integrationConfig: {} },
          context: caller.context(toldBefore(played, obtained)),
          credentials: obtained,
        });
        expect(await caller.call(whole)).toBe(200);
        for (const path of provider.proxy?.verification?.endpoints ?? []) {
          const { method = 'GET', headers = {}, data } = provider.proxy?.verification ?? {};
          expect(await caller.call(whole, { method, path, headers, data })).toBe(200);
        }
        await expectRenewal(caller, played, whole);
      }
      expect(refusals(played)).toEqual([]);
      await expectPages(caller, played);
    });

    it('waits as the provider says', () => {
      const { retry } = provider.proxy ?? {};
      const now = Date.UTC(2026, 0, 1);
      const waitOf = (headers: Record<string, string>) => {
        const reply = { status: 429, statusText: '', headers, body: Buffer.alloc(0), url: '' };
        return retryWaitMs(reply, { call: {}, provider: retry }, 0, now);
      };
      for (const name of retry?.after ?? []) expect(waitOf({ [name]: '7' })).toBe(7000);
      for (const name of retry?.at ?? []) {
        expect(waitOf({ [name]: String(now / 1000 + 9) })).toBe(9000);
      }
    });
  },
);

function problemsOfAddresses(provider: Provider): string[] {
  const { token_url: tokenUrl, proxy } = provider;
  const typed = Object.entries(provider.connection_config ?? {}).map(([name, field]) => {
    return [name, field.automated === true ? 'https://told.example' : typedInto(name, field)];
  });
  const told = [
    ...(provider.token_response_metadata ?? []),
    ...(provider.redirect_uri_metadata ?? []),
    ...(provider.connection_configuration ?? []),
  ].map((name) => [name, /url|uri|domain/i.test(name) ? 'https://told.example' : 'told']);
  const values = {
    connectionConfig: Object.fromEntries([...told, ...typed]) as JsonObject,
    metadata: {},
    credentials: { apiKey: 'key' },
    now: 0,
    random: 'random',
  };
  const templates = {
    authorization_url: provider.authorization_url,
    request_url: provider.request_url,
    refresh_url: provider.refresh_url,
    token_url: typeof tokenUrl === 'string' ? tokenUrl : tokenUrl?.OAUTH2,
    'token_url.APP': typeof tokenUrl === 'string' ? undefined : tokenUrl?.APP,
    base_url: proxy?.base_url,
  };
  return Object.entries(templates).flatMap(([field, template]) => {
    if (template === undefined) return [];
    const filled = interpolateUrl(template, values);
    const url = filled !== null && URL.canParse(filled) ? new URL(filled) : null;
    const isGood = url?.protocol === 'https:' && /^[a-z0-9.-]+$/.test(url.hostname);
    return isGood ? [] : [`${field}: ${String(filled)}`];
  });
}

function problemsOfFields(provider: Provider): string[] {
  const { credentials = {}, connection_config: config = {} } = provider;
  const fields = [...Object.entries(credentials), ...Object.entries(config)];
  const unfit = fields
    .filter(([, { automated }]) => automated !== true)
    .flatMap(([name, field]) => {
      const isPlain = field.pattern === undefined || !/secret|private/i.test(name);
      const problem = isPlain ? fieldProblem(field, typedInto(name, field)) : null;
      return problem === null ? [] : [`${name}: ${problem}`];
    });
  const shown = Object.entries(credentials).flatMap(([name, { secret }]) =>
    /key$|secret|password|token$/i.test(name) && secret === undefined
      ? [`${name}: not masked`]
      : [],
  );
  return [...unfit, ...shown];
}

/** Import, redirect and form: those that the mode has. */
async function everyWay(caller: Caller, played: PlayedProvider): Promise<ObtainedCredentials[]> {
  const { rules } = caller;
  const ways = [await caller.import()];
  if (rules.redirect !== null) ways.push(await caller.connect());
  if (rules.form !== null) {
    const context = caller.context();
    const given = rules.form.shape(context.provider).parse(played.form);
    ways.push(await rules.form.submit(given, context));
  }
  return ways;
}

/** An import has no response of the provider: the importer sends its values. */
function toldBefore(
  { connectionConfig, toldConfig, definition }: PlayedProvider,
  { credentials }: ObtainedCredentials,
): JsonObject {
  const isImported = Object.keys((credentials?.['raw'] as object | undefined) ?? {}).length === 0;
  if (definition.connection_lookup !== undefined || !isImported) return connectionConfig;
  return { ...connectionConfig, ...toldConfig };
}

async function expectRenewal(
  caller: Caller,
  played: PlayedProvider,
  before: ObtainedCredentials,
): Promise<void> {
  const { rules } = caller;
  const held = before.credentials as Credentials;
  if (rules.renewal?.isPossible(held, played.definition) !== true) return;
  const config = { ...played.connectionConfig, ...before.connectionConfig };
  const renewed = await rules.renewal.renew(held, caller.context(config));
  expect(await caller.call(renewed)).toBe(200);
}

const refusals = ({ asked }: PlayedProvider): string[] =>
  asked
    .filter(({ outcome }) => outcome !== 'granted' && outcome !== 'challenged')
    .map(({ role, outcome }) => `${role}: ${outcome}`);

/** The pages of a list, walked with the provider's settings and what a caller has to say beside them. */
async function expectPages(caller: Caller, { definition }: PlayedProvider): Promise<void> {
  const { paginate: settings } = definition.proxy ?? {};
  if (settings === undefined) return;
  const obtained = await caller.import();
  const limit = settings.limit_name_in_request === undefined ? {} : { limit: 3 };
  const { type, link_path_in_response_body: link, response_path: path } = settings;
  const isBeside = path === undefined && (type === 'cursor' || link !== undefined);
  const own = { ...limit, ...(isBeside ? { response_path: 'rows' } : {}) };
  const method = settings.in_body === true ? 'POST' : 'GET';
  const listed: unknown[] = [];
  const config = { endpoint: '/rows', method, paginate: own };
  const ask = async (asked: Config) => {
    const answer = await caller.ask(obtained, asked as unknown as Parameters<Caller['ask']>[1]);
    const response = { ...answer, config: asked, request: {} };
    return { response, text: JSON.stringify(answer.data), requestUrl: 'https://provider.test/' };
  };
  for await (const page of paginate(config, settings, ask)) listed.push(...page);
  expect(listed).toEqual(rows);
}

function patternsOf({ proxy, ...provider }: Provider): string[] {
  const groups = [provider.connection_config, provider.credentials, provider.integration_config];
  const fields = groups.flatMap((group) => Object.values(group ?? {}));
  return [...fields.map(({ pattern }) => pattern), proxy?.retry?.in_body?.value].filter(
    (pattern) => pattern !== undefined,
  );
}
