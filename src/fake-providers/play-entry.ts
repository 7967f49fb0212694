import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '#kernel/stable-json.ts';
import { secondMs } from '#kernel/time.ts';
import type {
  AuthMode,
  PaginateDefinition,
  Provider,
} from '#modules/connections/providers/definition.ts';
import { call, demandStatus, UnexpectedResponse, type TestedGateway } from './gateway.ts';
import { reportedLimits } from './limited.ts';
import { rows } from './pages.ts';
import type { PlayedProvider } from './play.ts';
import { visitRedirect } from './server.ts';

/** What every entry is led through, in this order. */
export const steps = [
  'connect',
  'verify',
  'call',
  'refresh',
  'paginate',
  'limit',
  'disconnect',
] as const;
export type Step = (typeof steps)[number];

/** `passed`; `undeclared`: the definition says nothing of it; `skipped`: a step before failed; else what is wrong. */
export type StepOutcome = 'passed' | 'undeclared' | 'skipped' | { readonly problem: string };

export type EntryOutcome = Readonly<Record<Step, StepOutcome>>;

/** The paginator of functions. */
export type Paginate = (
  config: JsonObject,
  settings: JsonObject | null,
  request: (config: Readonly<Record<string, unknown>>) => Promise<ReadPage>,
) => AsyncGenerator<unknown[], undefined>;

interface ReadPage {
  readonly response: {
    data: unknown;
    status: number;
    statusText: string;
    headers: Record<string, string>;
    config: object;
    request: object;
  };
  readonly text: string;
  readonly requestUrl: string;
}

/** How long a revocation may take to come; it follows the deletion. */
const revocationMaxMs = 20_000;
const lookAgainMs = 20;

/** Where the form of a mode is sent; the others go to the provider. */
const forms: Partial<Record<AuthMode, string>> = {
  OAUTH2_CC: '/oauth2/auth',
  API_KEY: '/api-auth/api-key',
  BASIC: '/api-auth/basic',
  TBA: '/auth/tba',
  AWS_SIGV4: '/auth/aws-sigv4',
  JWT: '/auth/jwt',
  BILL: '/auth/bill',
  TWO_STEP: '/auth/two-step',
  SIGNATURE: '/auth/signature',
  NONE: '/auth/unauthenticated',
  APP_STORE: '/app-store-auth',
};
const unrenewed = new Set<AuthMode>(['OAUTH1', 'BASIC', 'API_KEY', 'NONE', 'TBA']);

/** Seconds of a token that is waited for until it ends, and of one that stays. */
const shortLifetime = 1;
/** Seconds of a token that renews itself, and when a renewal is due: in its last quarter, while it is good. */
const renewableLifetime = 24;
const dueAfter = 18.5;
const longLifetime = 3600;

/** One entry on its way through the steps. */
class PlayedEntry {
  readonly #gateway: TestedGateway;
  readonly #played: PlayedProvider;
  readonly #definition: Provider;
  readonly #paginate: Paginate;
  #connectionId = '';

  constructor(gateway: TestedGateway, played: PlayedProvider, paginate: Paginate) {
    this.#gateway = gateway;
    this.#played = played;
    this.#definition = played.definition;
    this.#paginate = paginate;
  }

  async play(): Promise<EntryOutcome> {
    const { proxy = {}, auth_mode: mode } = this.#definition;
    const declared: Record<Step, boolean> = {
      connect: true,
      verify: proxy.verification !== undefined,
      call: true,
      refresh: !unrenewed.has(mode),
      paginate: proxy.paginate !== undefined,
      limit: proxy.retry !== undefined,
      disconnect: true,
    };
    const outcomes: Record<string, StepOutcome> = {};
    for (const step of steps) {
      const isConnected = step === 'connect' || outcomes['connect'] === 'passed';
      if (!declared[step]) outcomes[step] = 'undeclared';
      else outcomes[step] = isConnected ? await this.#outcomeOf(step) : 'skipped';
    }
    return outcomes as EntryOutcome;
  }

  /** A refusal of the provider counts, even where the gateway got over it. */
  async #outcomeOf(step: Step): Promise<StepOutcome> {
    const before = this.#played.asked.length;
    const problems: string[] = [];
    try {
      await this[step]();
    } catch (error) {
      problems.push(error instanceof UnexpectedResponse ? error.message : String(error));
    }
    for (const { role, method, path, outcome } of this.#played.asked.slice(before)) {
      if (isExpected(step, outcome, this.#definition)) continue;
      problems.push(`the provider refused ${method} ${shownPath(path)} (${role}): ${outcome}`);
    }
    return problems.length === 0 ? 'passed' : { problem: problems.join('; ') };
  }

  async connect(): Promise<void> {
    const { name } = this.#definition;
    const { integration, form } = this.#played;
    const credentials = integration === null ? {} : { credentials: integration };
    const revoking = this.#revokes ? { revoke_on_disconnect: true } : {};
    // The fake has no limit of requests, and the steps send many in a moment.
    const names = { provider: name, unique_key: name, rate_limit: 'none' };
    const body = { ...names, ...credentials, ...revoking };
    demandStatus(await this.#call('POST', '/integrations', body), 200, 'the integration');
    const token = await this.#sessionToken();
    const path = forms[this.#definition.auth_mode];
    const query = new URLSearchParams({ connect_session_token: token });
    for (const [field, value] of Object.entries(this.#played.connectionConfig)) {
      query.set(`params[${field}]`, value);
    }
    if (path === undefined) await this.#connectByRedirect(query);
    else {
      const address = `${path}/${name}?${query.toString()}`;
      const made = await call(this.#gateway, 'POST', address, { body: form ?? {}, key: null });
      demandStatus(made, 200, 'the form');
    }
    const listed = await this.#call('GET', `/connections?integrationId=${name}`);
    demandStatus(listed, 200, 'the list of connections');
    const { connections } = JSON.parse(listed.text) as {
      connections: { connection_id: string }[];
    };
    this.#connectionId = connections[0]?.connection_id ?? '';
    if (connections.length !== 1) throw new UnexpectedResponse('the connection was not saved');
  }

  async #sessionToken(): Promise<string> {
    const body = { end_user: { id: 'u1' }, allowed_integrations: [this.#definition.name] };
    const made = await this.#call('POST', '/connect/sessions', body);
    demandStatus(made, 201, 'the connect session');
    const { data } = JSON.parse(made.text) as { data: { token: string } };
    return data.token;
  }

  /** As a browser does: to the provider, back, and the page of the gateway. */
  async #connectByRedirect(query: URLSearchParams): Promise<void> {
    const { name } = this.#definition;
    this.#played.setupAt(new URL('/app-auth/connect', this.#gateway.url).href);
    const address = `/oauth/connect/${name}?${query.toString()}`;
    const started = await call(this.#gateway, 'GET', address, { key: null });
    demandStatus(started, 302, 'the start of the authorization');
    const cookie = (started.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
    const back = await visitRedirect(started.headers.get('location') ?? '');
    const { pathname, search } = new URL(back);
    const landed = await call(this.#gateway, 'GET', pathname + search, {
      key: null,
      headers: { cookie },
    });
    demandStatus(landed, 200, 'the callback');
  }

  async verify(): Promise<void> {
    const {
      method = 'GET',
      endpoints = [],
      headers = {},
      data,
      base_url_override: otherBase,
    } = this.#definition.proxy?.verification ?? {};
    // The proxy calls below the base URL alone.
    if (otherBase !== undefined) return;
    for (const endpoint of endpoints) {
      if (endpoint.includes('${')) continue;
      const body = method === 'POST' ? ((data ?? {}) as JsonObject) : undefined;
      const response = await this.#proxy(method, endpoint, { headers, body });
      demandStatus(response, 200, `${method} ${endpoint}`);
    }
  }

  async call(): Promise<void> {
    demandStatus(await this.#proxy('GET', '/v1/things?b=2&a=%20'), 200, 'GET');
    const body = { note: 'a' };
    demandStatus(await this.#proxy('POST', '/v1/things', { body }), 200, 'POST');
  }

  /**
   * A forced renewal gets a token that ends at once: the next call comes with one that was renewed for it, by the
   * refresh token of the renewal before. A token that renews itself must not have ended.
   */
  async refresh(): Promise<void> {
    const { setLifetime, endTokens } = this.#played;
    const isOwnProof = this.#definition.access_token_refresh !== undefined;
    if (!isOwnProof) endTokens();
    setLifetime(isOwnProof ? renewableLifetime : shortLifetime);
    const path = `/connections/${this.#connectionId}?provider_config_key=${this.#definition.name}`;
    const forced = await this.#call('GET', `${path}&force_refresh=true`);
    demandStatus(forced, 200, 'the forced refresh');
    setLifetime(longLifetime);
    await delay((isOwnProof ? dueAfter : shortLifetime) * secondMs);
    if (!isOwnProof) endTokens();
    const headers = { retries: '1' };
    demandStatus(await this.#proxy('GET', '/v1/things', { headers }), 200, 'the call after expiry');
  }

  async paginate(): Promise<void> {
    const settings = await this.#paginateSettings();
    const { type, link_path_in_response_body: link, response_path: path } = settings;
    const hasOwnLimit =
      settings.limit !== undefined || settings.limit_name_in_request === undefined;
    // What a caller has to add: where the rows are beside the next page, and how many it wants.
    const isBeside = path === undefined && (type === 'cursor' || link !== undefined);
    const own = {
      ...(hasOwnLimit ? {} : { limit: 3 }),
      ...(isBeside ? { response_path: 'rows' } : {}),
    };
    const method = settings.in_body === true ? 'POST' : 'GET';
    for (let round = 0; round < 2; round++) {
      const config = { endpoint: '/rows', method, paginate: own };
      const listed: unknown[] = [];
      const pages = this.#paginate(config, settings, (asked) => this.#page(asked));
      for await (const page of pages) listed.push(...page);
      if (JSON.stringify(listed) !== JSON.stringify(rows)) {
        throw new UnexpectedResponse(`${listed.length} rows instead of ${rows.length}`);
      }
    }
  }

  /** Those of the gateway's catalog, as a function gets them. */
  async #paginateSettings(): Promise<PaginateDefinition> {
    const shown = await this.#call('GET', `/providers/${this.#definition.name}`);
    demandStatus(shown, 200, 'the entry of the catalog');
    const { data } = JSON.parse(shown.text) as { data: Provider };
    return data.proxy?.paginate ?? {};
  }

  /** A call of the paginator, through the proxy. */
  async #page(config: Readonly<Record<string, unknown>>): Promise<ReadPage> {
    const {
      params = {},
      data,
      baseUrlOverride,
      endpoint,
      method,
    } = config as {
      readonly params?: Readonly<Record<string, string>>;
      readonly data?: JsonObject;
      readonly baseUrlOverride?: string;
      readonly endpoint: string;
      readonly method: string;
    };
    const query = new URLSearchParams(params).toString();
    const target = query === '' ? endpoint : `${endpoint}?${query}`;
    const headers = baseUrlOverride === undefined ? {} : { 'base-url-override': baseUrlOverride };
    const response = await this.#proxy(method, target, {
      headers,
      body: method === 'POST' ? (data ?? {}) : undefined,
    });
    demandStatus(response, 200, `${method} ${target}`);
    return {
      response: {
        data: JSON.parse(response.text) as unknown,
        status: response.status,
        statusText: '',
        headers: Object.fromEntries(response.headers),
        config,
        request: {},
      },
      text: response.text,
      requestUrl: target,
    };
  }

  /** While the limit lasts, every call gets its answer: a retry that comes before its end fails. */
  async limit(): Promise<void> {
    for (const { answer, endsAt } of reportedLimits(this.#definition)) {
      this.#played.limitUntil(endsAt, answer);
      const response = await this.#proxy('GET', '/v1/things', { headers: { retries: '1' } });
      const isServed = response.status === 200 && response.text === '{"ok":true}';
      const isLimited = this.#played.asked.at(-2)?.outcome === 'limited';
      if (isServed && isLimited) continue;
      const message = `the retry after ${answer.status} came before the limit ended, or not at all`;
      throw new UnexpectedResponse(message);
    }
  }

  async disconnect(): Promise<void> {
    const path = `/connections/${this.#connectionId}?provider_config_key=${this.#definition.name}`;
    demandStatus(await this.#call('DELETE', path), 200, 'the deletion');
    demandStatus(await this.#call('GET', path), 404, 'the deleted connection');
    demandStatus(await this.#proxy('GET', '/v1/things'), 400, 'a call of the deleted connection');
    if (this.#revokes) await this.#comesRevocation();
  }

  get #revokes(): boolean {
    const { revocation, auth_mode: mode } = this.#definition;
    return revocation !== undefined && mode === 'OAUTH2';
  }

  /** The gateway sends it after the deletion. */
  async #comesRevocation(): Promise<void> {
    for (let waitedMs = 0; waitedMs < revocationMaxMs; waitedMs += lookAgainMs) {
      if (this.#played.outcomes('revoke').length > 0) return;
      await delay(lookAgainMs);
    }
    throw new UnexpectedResponse('the access was not revoked');
  }

  #call(method: string, path: string, body?: JsonObject) {
    return call(this.#gateway, method, path, body === undefined ? {} : { body });
  }

  #proxy(
    method: string,
    endpoint: string,
    {
      headers = {},
      body,
    }: { headers?: Readonly<Record<string, string>>; body?: JsonObject | undefined } = {},
  ) {
    const path = `/proxy${endpoint.startsWith('/') ? '' : '/'}${endpoint}`;
    return call(this.#gateway, method, path, {
      ...(body === undefined ? {} : { body }),
      headers: {
        ...headers,
        'provider-config-key': this.#definition.name,
        'connection-id': this.#connectionId,
      },
    });
  }
}

/** Without an expiry in the response, the refusal of a call is the first sign that a token has ended. */
const isExpected = (step: Step, outcome: string, definition: Provider): boolean =>
  outcome === 'granted' ||
  (step === 'connect' && outcome === 'challenged') ||
  (step === 'limit' && outcome === 'limited') ||
  (step === 'refresh' &&
    !statesExpiry(definition) &&
    /^(ended|unknown|wrong_value|no_token)/.test(outcome));

function statesExpiry({ auth_mode: mode, token_response: response }: Provider): boolean {
  if (mode === 'TWO_STEP') return response?.token_expiration !== undefined;
  return !['BILL', 'JWT', 'APP_STORE', 'SIGNATURE'].includes(mode);
}

/** Without the name of the entry and the role, which stand in front of every path. */
const shownPath = (path: string): string => `/${path.split('/').slice(3).join('/')}`;

/** Leads an entry through all steps on the gateway, whose catalog has the definition of the played provider. */
export function playEntry(
  gateway: TestedGateway,
  played: PlayedProvider,
  paginate: Paginate,
): Promise<EntryOutcome> {
  return new PlayedEntry(gateway, played, paginate).play();
}
