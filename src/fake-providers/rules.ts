import type { JsonObject } from '#kernel/stable-json.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { demand, unauthorized, type Answer, type ReceivedRequest, type Role } from './exchange.ts';
import { fill, isFilled, type FillValues } from './fill.ts';

export interface PlayOptions {
  /** Whether a refresh gives another refresh token and ends the one before. Default: yes. */
  readonly isRotating?: boolean;
  /** Seconds that tokens live. Default: 3600. */
  readonly expiresIn?: number;
  /** Scopes of the integration: the authorization asks for these alone. Default: not looked at. */
  readonly scopes?: readonly string[];
  /** Whether a person who consents installs the app at once (mode CUSTOM). Default: no. */
  readonly installsApp?: boolean;
}

/** What the rules of a mode know of the provider that they play. */
export interface Stage {
  /** With the addresses of the fake provider. */
  readonly definition: Provider;
  readonly base: string;
  readonly options: PlayOptions;
  /** Connection configuration, and credentials as templates name them. */
  readonly known: Record<string, string>;
  /** Where the browser is sent after an app was installed. */
  setupUrl: string;
  /** Seconds that a token lives which is issued now. */
  lifetime: number;
  /** The person refuses while this is set: the code that the redirect back carries. */
  refusal: string | null;
}

/** The rules of one authentication mode, as the provider keeps them. */
export interface Rules {
  /** `credentials` of `POST /integrations`; null where the integration holds none. */
  readonly integration: JsonObject | null;
  /** `credentials` of `POST /connections`: new ones that this provider takes. */
  importable(): JsonObject;
  /** What a person types into the form of the mode; null where there is none. */
  readonly form: JsonObject | null;
  /** Addresses that no field of the definition has, because clients discover them. */
  readonly discovered?: ReadonlySet<Role>;
  /** @throws Refusal */
  answer(request: ReceivedRequest): Answer | Promise<Answer>;
  /** Looks at a call of the API. @throws Refusal */
  admit(request: ReceivedRequest): void | Promise<void>;
  /** Ends every token given so far: the API answers 401 to them. */
  endTokens(): void;
}

const secretToken = /\$\{[^}]*\b(apiKey|accessToken|username|password|credentials\.)/;
/** A caller may set these itself. */
const callersOwn = new Set(['accept', 'content-type', 'user-agent']);

const isPlacedSecret = (template: string): boolean => secretToken.test(template);

/** Headers and query that the definition puts into each call, with any of the tokens that are good. */
export function demandPlaced(
  { definition, known }: Pick<Stage, 'definition' | 'known'>,
  { headers, url, body }: ReceivedRequest,
  tokens: readonly string[] = [],
): void {
  const { proxy = {} } = definition;
  const check = (what: string, template: string, sent: unknown) => {
    const ofCall = { ...known, bodyCanonicalParams: body };
    const values: FillValues[] = tokens.map((accessToken) => ({ ...ofCall, accessToken }));
    const wanted = [ofCall, ...values].map((each) => fill(template, each)).filter(isFilled);
    const refusal = isPlacedSecret(template) ? unauthorized : {};
    if (wanted.length === 0 && isPlacedSecret(template))
      demand(false, `no_token: ${what}`, refusal);
    if (wanted.length === 0) demand(sent === undefined, `unfilled: ${what}`);
    else demand(wanted.includes(String(sent)), `wrong_value: ${what}`, refusal);
  };
  for (const [name, template] of Object.entries(proxy.headers ?? {})) {
    if (callersOwn.has(name.toLowerCase())) continue;
    check(`header ${name}`, template, headers[name.toLowerCase()]);
  }
  for (const [name, template] of Object.entries(proxy.query ?? {})) {
    check(`query ${name}`, template, url.searchParams.get(name) ?? undefined);
  }
  const isJson = headers['content-type']?.startsWith('application/json') === true;
  if (proxy.body !== undefined && isJson && body !== '') {
    const sent = JSON.parse(body) as JsonObject;
    for (const [name, template] of Object.entries(proxy.body)) {
      if (typeof template === 'string') check(`body ${name}`, template, sent[name]);
    }
  }
}

/** Whether the definition says itself what `Authorization` holds. */
export const placesAuthorization = ({ proxy }: Provider): boolean =>
  Object.keys(proxy?.headers ?? {}).some((name) => name.toLowerCase() === 'authorization');

/** Whether header, query or path carry a credential. */
export const placesSecret = ({ proxy = {} }: Provider): boolean =>
  [
    ...Object.values(proxy.headers ?? {}),
    ...Object.values(proxy.query ?? {}),
    proxy.base_url ?? '',
  ].some(isPlacedSecret);

/** Headers of the definition that are no credentials. */
export const plainHeaders = ({ definition, known }: Stage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(definition.proxy?.headers ?? {})
      .filter(([, template]) => !isPlacedSecret(template))
      .map(([name, template]) => [name.toLowerCase(), fill(template, known)]),
  );

/** A call with a live token as Bearer, or where the definition puts it. */
export function demandToken(
  stage: Stage,
  request: ReceivedRequest,
  tokens: readonly string[],
): void {
  demandPlaced(stage, request, tokens);
  if (placesAuthorization(stage.definition)) return;
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  demand(token !== undefined && tokens.includes(token), 'unknown_token', unauthorized);
}

/** The scopes of the integration, where the definition has none of its own. */
export const scopesOf = ({ definition, options }: Stage): { readonly scopes?: string } =>
  options.scopes === undefined || definition.default_scopes !== undefined
    ? {}
    : { scopes: options.scopes.join(',') };

/** All scopes of the integration and no others, between them the separator of the definition. */
export function demandScopes({ definition, known, options }: Stage, sent: unknown): void {
  const { scopes } = options;
  if (scopes === undefined || definition.authorization_params?.['scope'] !== undefined) return;
  const separator = definition.scope_separator ?? ' ';
  const wanted = scopes.map((scope) => fill(scope, known)).join(separator);
  demand((sent ?? '') === wanted, `wrong_scope: ${String(sent)} instead of ${wanted}`);
}

/** Every parameter of the definition has come, filled in. */
export function demandParams(
  stated: JsonObject | undefined,
  sent: JsonObject,
  known: FillValues,
  except: readonly string[] = [],
): void {
  for (const [name, value] of Object.entries(stated ?? {})) {
    if (except.includes(name)) continue;
    const wanted = JSON.parse(filledJson(value, known)) as unknown;
    const has = JSON.stringify(sent[name]) === JSON.stringify(wanted);
    demand(has, `wrong_param: ${name}`);
  }
}

const filledJson = (value: unknown, known: FillValues): string =>
  JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'string' ? fill(item, known) : item,
  );

/** The headers that the definition asks for on calls for tokens. */
export function demandHeaders(
  stated: Readonly<Record<string, string>> | undefined,
  { headers }: ReceivedRequest,
  known: FillValues,
): void {
  for (const [name, template] of Object.entries(stated ?? {})) {
    const isThere = headers[name.toLowerCase()] === fill(template, known);
    demand(isThere, `wrong_header: ${name}`);
  }
}
