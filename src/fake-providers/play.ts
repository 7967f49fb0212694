import type { JsonObject } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import type { AuthMode, Provider } from '#modules/connections/providers/definition.ts';
import { definitionAt, leadingAddresses, templateOf, typedAddresses } from './addresses.ts';
import { appRules, customRules } from './apps.ts';
import { awsRules } from './aws.ts';
import { clientCredentialsRules } from './client-credentials.ts';
import { demand, type Answer, type JudgedRequest, type ReceivedRequest } from './exchange.ts';
import { fill, isFilled, typedInto } from './fill.ts';
import { apiKeyRules, basicRules, noneRules } from './keys.ts';
import { lookedUpAccounts, type OwnAnswer } from './lookups.ts';
import { mcpRules } from './mcp.ts';
import { oauth1Rules, tbaRules } from './oauth1.ts';
import { oauth2Rules } from './oauth2.ts';
import { pageOf } from './pages.ts';
import { plainHeaders, type PlayOptions, type Rules, type Stage } from './rules.ts';
import { billRules, twoStepRules } from './sessions.ts';
import { appStoreRules, jwtRules, signatureRules } from './signed.ts';
import { secret } from './tokens.ts';

const rulesOf: Readonly<Record<AuthMode, (stage: Stage) => Rules>> = {
  OAUTH1: oauth1Rules,
  OAUTH2: oauth2Rules,
  MCP_OAUTH2: mcpRules,
  AWS_SIGV4: awsRules,
  OAUTH2_CC: clientCredentialsRules,
  BASIC: basicRules,
  API_KEY: apiKeyRules,
  APP_STORE: appStoreRules,
  CUSTOM: customRules,
  APP: appRules,
  NONE: noneRules,
  TBA: tbaRules,
  JWT: jwtRules,
  BILL: billRules,
  TWO_STEP: twoStepRules,
  SIGNATURE: signatureRules,
};

/** A provider that the fake plays: what to configure, what a person types, and what it was asked. */
export interface PlayedProvider {
  /** With addresses of the fake provider, for `SVC_PROVIDERS`. */
  readonly definition: Provider;
  /** `credentials` of `POST /integrations`; null where the mode has none. */
  readonly integration: JsonObject | null;
  /** What the person types in of the connection's configuration. */
  readonly connectionConfig: Readonly<Record<string, string>>;
  /** Configuration of the connection that the provider returns in its responses. */
  readonly toldConfig: Readonly<Record<string, string>>;
  /** New `credentials` for `POST /connections`, which the provider takes. */
  readonly importable: () => JsonObject;
  /** What the person types into the form of the mode; null where the mode has none. */
  readonly form: JsonObject | null;
  /** Every request so far, with what became of it. */
  readonly asked: readonly JudgedRequest[];
  /** Outcomes of the requests of a role, such as `granted` or `reused_code`. */
  readonly outcomes: (role: JudgedRequest['role']) => string[];
  /** From now on the person refuses, and the redirect back says so; null: consents. */
  readonly refuses: (error: string | null) => void;
  /** Where the browser is sent after an app was installed (mode APP). */
  readonly setupAt: (url: string) => void;
  /** Ends all access tokens (keys and passwords become others): the API answers 401. */
  readonly endTokens: () => void;
  /** The next requests of the role are answered so, whatever they carry. */
  readonly plan: (role: JudgedRequest['role'], ...answers: Answer[]) => void;
  /** Until the time (ms since the epoch) every call of the API is answered so. */
  readonly limitUntil: (until: number, answer: Answer) => void;
  /** Seconds that tokens live which are issued from now on. */
  readonly setLifetime: (seconds: number) => void;
  /**
   * What a path of the provider answers to callers that it knows; the path ends so. The token comes with the
   * scheme, and the headers that name an account are not asked for.
   */
  readonly on: (pathEnd: string, answer: OwnAnswer['body'], scheme?: OwnAnswer['scheme']) => void;
  /** The API answers so from now on to callers that it knows; `path` lies below the base URL. */
  readonly serve: (api: ServedApi) => void;
}

/** @throws Refusal */
export type ServedApi = (request: ReceivedRequest, path: string) => Answer;

/** Answers that come in place of the usual ones. */
interface Interruption {
  readonly until: number;
  readonly answer: Answer;
}

/** What comes in place of the answers of the mode. */
interface StagedAnswers {
  readonly planned: Map<string, Answer[]>;
  readonly own: Map<string, OwnAnswer>;
  /** What a lookup after connecting gets. */
  readonly accounts: ReadonlyMap<string, OwnAnswer>;
  interruption: Interruption | null;
  /** What the API of the provider answers; null: the same to every call. */
  api: ServedApi | null;
}

/** A played provider from the server's side. */
export interface Play {
  readonly played: PlayedProvider;
  /** @throws Refusal */
  answer(request: ReceivedRequest): Promise<Answer>;
  note(request: ReceivedRequest, outcome: string): void;
}

export function openPlay(provider: Provider, base: string, options: PlayOptions): Play {
  const definition = definitionAt(provider, base);
  const connectionConfig = typedConfig(provider, base);
  const toldConfig = toldBy(provider, base);
  const known: Record<string, string> = { ...prefixed(connectionConfig), ...prefixed(toldConfig) };
  const setupUrl = 'http://gateway.test/app-auth/connect';
  const lifetime = options.expiresIn ?? 3600;
  const stage: Stage = { definition, base, options, known, setupUrl, refusal: null, lifetime };
  const rules = rulesOf[provider.auth_mode](stage);
  const asked: JudgedRequest[] = [];
  const accounts = lookedUpAccounts(provider, toldConfig);
  const staged: StagedAnswers = {
    planned: new Map(),
    own: new Map(),
    accounts,
    interruption: null,
    api: null,
  };
  return {
    played: {
      definition,
      integration: rules.integration,
      connectionConfig,
      toldConfig,
      importable: () => rules.importable(),
      get form() {
        return rules.form;
      },
      asked,
      outcomes: (role) => asked.filter((one) => one.role === role).map(({ outcome }) => outcome),
      refuses: (error) => {
        stage.refusal = error;
      },
      setupAt: (url) => {
        stage.setupUrl = url;
      },
      endTokens: () => rules.endTokens(),
      limitUntil: (until, answer) => {
        staged.interruption = { until, answer };
      },
      setLifetime: (seconds) => {
        stage.lifetime = seconds;
      },
      plan: (role, ...answers) => {
        staged.planned.set(role, [...(staged.planned.get(role) ?? []), ...answers]);
      },
      on: (pathEnd, body, scheme = 'Bearer') => void staged.own.set(pathEnd, { body, scheme }),
      serve: (api) => {
        staged.api = api;
      },
    },
    answer: (request) => answerPlayed(stage, rules, staged, request),
    note(request, outcome) {
      const { role, method, url, headers, body } = request;
      asked.push({ role, method, path: url.pathname + url.search, headers, body, outcome });
    },
  };
}

async function answerPlayed(
  stage: Stage,
  rules: Rules,
  { planned, own, accounts, interruption, api }: StagedAnswers,
  request: ReceivedRequest,
): Promise<Answer> {
  const isApi = request.role === 'api';
  if (isApi && interruption !== null && systemClock.now() < interruption.until)
    return { ...interruption.answer, isLimit: true };
  const plan = planned.get(request.role)?.shift();
  if (plan !== undefined) return plan;
  const [, ownAnswer] =
    [...own, ...accounts].find(
      ([end, answer]) => request.url.pathname.endsWith(end) && isAskedFor(answer, request),
    ) ?? [];
  if (ownAnswer !== undefined) {
    await rules.admit(asOfDefinition(stage, request, ownAnswer));
    return { status: 200, body: ownAnswer.body };
  }
  if (rules.discovered?.has(request.role) !== true) demandAddress(stage, request);
  if (!isApi) return rules.answer(request);
  await rules.admit(request);
  if (api !== null) return api(request, pathBelow(stage, request));
  const { paginate } = stage.definition.proxy ?? {};
  const isListed = paginate !== undefined && request.url.pathname.endsWith('/rows');
  return isListed ? pageOf(paginate, request) : { status: 200, body: { ok: true } };
}

const isAskedFor = ({ graphql }: OwnAnswer, { body }: ReceivedRequest): boolean =>
  graphql === undefined || body.includes(JSON.stringify(graphql));

/** The request as the rules of the API look at it: scheme and account are those of the definition. */
function asOfDefinition(
  stage: Stage,
  request: ReceivedRequest,
  { scheme }: OwnAnswer,
): ReceivedRequest {
  const { authorization, ...rest } = request.headers;
  const bearer =
    authorization?.startsWith(`${scheme} `) === true
      ? `Bearer ${authorization.slice(scheme.length + 1)}`
      : authorization;
  return {
    ...request,
    headers: {
      ...plainHeaders(stage),
      ...rest,
      ...(bearer === undefined ? {} : { authorization: bearer }),
    },
  };
}

const rootOf = ({ definition, known }: Stage): string =>
  new URL(fill(definition.proxy?.base_url ?? '', known)).pathname.replace(/\/+$/, '');

const pathBelow = (stage: Stage, { url }: ReceivedRequest): string =>
  url.pathname.slice(rootOf(stage).length);

/** The path is the one of the definition, with the configuration of the connection in it. */
function demandAddress({ definition, known }: Stage, { role, url }: ReceivedRequest): void {
  const template = templateOf(definition, role);
  demand(template !== null, `no_such_endpoint: ${role}`, { status: 404, error: 'not_found' });
  // Only the test of credentials may be at another address.
  const other = role === 'api' ? definition.proxy?.verification?.base_url_override : undefined;
  const isThere = [template, ...(other === undefined ? [] : [other])].some((address) => {
    const filled = fill(address, known);
    demand(isFilled(filled), `unknown_value_in_address: ${filled}`);
    const root = new URL(filled).pathname.replace(/\/+$/, '');
    if (role === 'api') return url.pathname === root || url.pathname.startsWith(`${root}/`);
    return url.pathname.replace(/\/+$/, '') === root;
  });
  demand(isThere, `wrong_address: ${url.pathname}`, { status: 404, error: 'not_found' });
}

const prefixed = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`connectionConfig.${name}`, value]),
  );

function typedConfig(provider: Provider, base: string): Record<string, string> {
  const { connection_config: fields = {} } = provider;
  const asked = Object.entries(fields).filter(([, { automated }]) => automated !== true);
  const addresses = typedAddresses(provider, base);
  return Object.fromEntries(
    asked.map(([name, field]) => [
      name,
      addresses[`connectionConfig.${name}`] ?? typedInto(name, field),
    ]),
  );
}

/** Configuration that answers, redirects and scripts bring. */
function toldBy(provider: Provider, base: string): Record<string, string> {
  const names = [
    ...(provider.token_response_metadata ?? []),
    ...(provider.redirect_uri_metadata ?? []),
    ...(provider.connection_configuration ?? []),
  ];
  const addresses = leadingAddresses(provider, base);
  return Object.fromEntries([
    ...names.map((name) => [
      name,
      addresses[`connectionConfig.${name}`] ?? secret(name.split('.').at(-1) ?? ''),
    ]),
    ...Object.entries(addresses).map(([name, address]) => [
      name.replace('connectionConfig.', ''),
      address,
    ]),
  ]) as Record<string, string>;
}
