import { Cookie, CookieJar, pathMatch } from 'tough-cookie';
import { z } from 'zod';
import { mapOf } from '#http/fields.ts';
import { atPath, textAt } from '#kernel/json-path.ts';
import { objectOf, type JsonObject } from '#kernel/stable-json.ts';
import { dayMs, type Instant } from '#kernel/time.ts';
import { interpolateUrl, type TemplateValues } from '#rules/interpolate.ts';
import type { Provider, TokenStep } from '../../providers/definition.ts';
import { durationMs, atTime, iso, jwtExpiry } from './expiry.ts';
import { bearer, type AuthModeRules, type ModeContext, type ObtainedCredentials } from './mode.ts';
import { picked } from './oauth2-token.ts';
import { answerWithout } from './provider-auth-error.ts';
import { providerFields, typed, strict } from './shapes.ts';
import { signTemplate } from './signed-token.ts';
import {
  addressOf,
  requestToken,
  headersOf,
  paramsOf,
  tokenValues,
  type TokenAnswer,
} from './token-request.ts';

/** Lifetime of a token without an expiry. */
const foreverMs = 99 * 365 * dayMs;
/** A token counts as expired this long before its `exp`. */
const jwtMarginMs = 15 * 60_000;

/** One or several calls obtain a token (docs/reference/auth-modes.md#two_step). */
export const twoStep: AuthModeRules = {
  mode: 'TWO_STEP',
  integration: null,
  importShape: (provider) => typed('TWO_STEP', (more) => providerFields(provider, more)),
  import: (input, context) => fetched(input, {}, context),
  form: {
    shape: (provider) =>
      providerFields(provider, { assertionOption: mapOf(z.string(), z.string()).optional() }),
    submit: ({ assertionOption, ...given }, context) =>
      fetched(given, objectOf(assertionOption), context),
  },
  redirect: null,
  renewal: { isPossible: () => true, spendsToken: hasRefreshToken, renew: renewed },
  isTested: false,
  authorization: ({ credentials, provider }) =>
    placesItsToken(provider) ? null : bearer(credentials['token']),
};

function placesItsToken(provider: Provider): boolean {
  const templates = Object.values(provider.proxy?.headers ?? {});
  return templates.some((text) => /\$\{(accessToken|credentials\._cookies)\}/.test(text));
}

/** Only the fields that the person entered. */
function fieldsOf({ credentials = {} }: Provider, held: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(held).filter(([name]) => Object.hasOwn(credentials, name)),
  );
}

function hasRefreshToken(held: JsonObject, { refresh_url }: Provider): boolean {
  return refresh_url !== undefined && textAt(held, 'refresh_token') !== null;
}

async function renewed(held: JsonObject, context: ModeContext): Promise<ObtainedCredentials> {
  const { provider } = context;
  const refreshToken = textAt(held, 'refresh_token');
  const formValues = fieldsOf(provider, held);
  if (provider.refresh_url === undefined || refreshToken === null) {
    return fetched(formValues, {}, context);
  }
  const extra = { refresh_token: refreshToken };
  const values = tokenValues(context, held, extra);
  const answer = await requestToken(context, {
    url: addressOf(provider, 'refresh_url', provider.refresh_url, values),
    params: paramsOf(provider.refresh_token_params, values),
    format: provider.body_format ?? 'json',
    headers: headersOf(provider.refresh_token_headers ?? provider.token_headers, values),
    failure: 'two_step_credentials_fetch_error',
  });
  return obtainedOf(
    { answers: [answer], earlierCookies: textAt(held, '_cookies') },
    { ...formValues, refresh_token: refreshToken },
    context,
  );
}

async function fetched(
  input: JsonObject,
  assertionOption: JsonObject,
  context: ModeContext,
): Promise<ObtainedCredentials> {
  const { provider } = context;
  const fields = fieldsOf(provider, input);
  const assertion = await assertionOf(fields, context);
  const extra: Record<string, JsonObject | string> = { assertionOption, ...assertion };
  const first = await step(firstStep(provider), tokenValues(context, fields, extra), context);
  const answers: [TokenAnswer, ...TokenAnswer[]] = [first];
  for (const [at, next] of (provider.additional_steps ?? []).entries()) {
    extra[`step${at + 1}`] = (answers.at(-1) ?? first).body;
    answers.push(await step(next, tokenValues(context, fields, extra), context));
  }
  return obtainedOf({ answers, earlierCookies: null }, fields, context);
}

const firstStep = (provider: Provider): TokenStep => ({
  token_url: typeof provider.token_url === 'string' ? provider.token_url : '',
  ...(provider.token_params === undefined ? {} : { token_params: provider.token_params }),
  ...(provider.token_headers === undefined ? {} : { token_headers: provider.token_headers }),
  ...(provider.token_request_method === undefined
    ? {}
    : { token_request_method: provider.token_request_method }),
});

/** A signed JWT for the next call, as `${token}`. */
async function assertionOf(fields: JsonObject, context: ModeContext): Promise<{ token?: string }> {
  const { token: template, signature: rules } = context.provider;
  if (template === undefined || rules === undefined) return {};
  const values = tokenValues(context, fields);
  return { token: (await signTemplate(template, rules, values, context.clock.now())).token };
}

async function step(
  { token_url, token_params, token_headers, token_request_method }: TokenStep,
  values: TemplateValues,
  context: ModeContext,
): Promise<TokenAnswer> {
  const { provider } = context;
  return requestToken(context, {
    url: addressOf(provider, 'token_url', token_url, values),
    method: token_request_method ?? 'POST',
    params: paramsOf(token_params, values),
    format: provider.body_format ?? 'json',
    headers: headersOf(token_headers, values),
    failure: 'two_step_credentials_fetch_error',
  });
}

/** The responses of one login, the last of which has the token. */
interface Login {
  readonly answers: readonly [TokenAnswer, ...TokenAnswer[]];
  readonly earlierCookies: string | null;
}

function obtainedOf(login: Login, fields: JsonObject, context: ModeContext): ObtainedCredentials {
  const { provider, clock } = context;
  const { answers } = login;
  const { body } = answers.at(-1) ?? answers[0];
  const { token_response: paths = { token: 'token' } } = provider;
  const token = textAt(body, paths.token);
  if (token === null) throw answerWithout('token', provider, 'two_step_credentials_fetch_error');
  const refreshPath = paths.refresh_token;
  const refreshToken =
    (refreshPath === undefined ? null : textAt(body, refreshPath)) ?? fields['refresh_token'];
  const now = clock.now();
  const expiresAt = endOf(body, { token, refreshToken, provider, now });
  const cookies = provider.token_response_headers?.includes('set-cookie')
    ? cookiesOf(login, fields, context)
    : null;
  return {
    credentials: {
      ...fields,
      type: 'TWO_STEP',
      token,
      ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
      ...(cookies === null ? {} : { _cookies: cookies }),
      ...(expiresAt === null ? {} : { expires_at: iso(expiresAt) }),
      raw: body,
    },
    expiresAt,
    connectionConfig: picked(body, provider.token_response_metadata),
  };
}

function endOf(
  body: JsonObject,
  exchange: {
    readonly token: string;
    readonly refreshToken: unknown;
    readonly provider: Provider;
    readonly now: Instant;
  },
): Instant | null {
  const { provider, now } = exchange;
  const { token_expiration: path, token_expiration_strategy: strategy } =
    provider.token_response ?? {};
  const stated = path === undefined ? undefined : atPath(body, path);
  const expiresAt =
    strategy === 'expireIn' ? addedTo(now, durationMs(stated)) : atTime(stated, now);
  if (expiresAt !== null) return earliest(expiresAt, jwtExpiry(exchange.refreshToken));
  if (provider.token_expires_in_ms === 0) return null;
  const end = now + (provider.token_expires_in_ms ?? foreverMs);
  return earliest(earliest(end, jwtExpiry(exchange.token)), jwtExpiry(exchange.refreshToken));
}

const addedTo = (now: Instant, ms: number | null): Instant | null =>
  ms === null ? null : now + ms;

const earliest = (end: Instant, jwt: Instant | null): Instant =>
  jwt === null ? end : Math.min(end, jwt - jwtMarginMs);

function cookiesOf(
  { answers, earlierCookies }: Login,
  fields: JsonObject,
  context: ModeContext,
): string | null {
  const template = context.provider.proxy?.base_url ?? '';
  const base = interpolateUrl(template, tokenValues(context, fields));
  const apiUrl = base !== null && URL.canParse(base) ? base : answers[0].url;
  return sessionCookies(answers, apiUrl, earlierCookies);
}

/**
 * The `Cookie` header (RFC 6265 section 4.2) of a session after the responses of its login, for calls to the API; null
 * without a cookie. Of the earlier cookies those stay that no response sets.
 * @param apiUrl base address of the API. A cookie of a domain is for the hosts of that domain; one without a domain is
 *   of the API although another host of the provider may have set it, because the definition says so.
 */
export function sessionCookies(
  answers: readonly Pick<TokenAnswer, 'setCookies' | 'url'>[],
  apiUrl: string,
  earlier: string | null,
): string | null {
  const jar = new CookieJar();
  const names = new Set<string>();
  for (const { setCookies, url } of answers) {
    for (const text of setCookies) {
      const cookie = Cookie.parse(text);
      if (cookie === undefined) continue;
      names.add(cookie.key);
      jar.setCookieSync(cookie, url, { ignoreError: true });
    }
  }
  const urls = new Set(answers.map(({ url }) => url));
  const found = [...urls]
    .flatMap((url) => jar.getCookiesSync(url, { allPaths: true }))
    .filter(({ hostOnly }) => hostOnly === true)
    .concat(jar.getCookiesSync(apiUrl, { allPaths: true }))
    .filter((cookie) => isUnder(cookie, new URL(apiUrl).pathname));
  const kept = (earlier?.split('; ') ?? []).filter(
    (pair) => !names.has(pair.slice(0, Math.max(pair.indexOf('='), 0))),
  );
  const pairs = new Set([...kept, ...found.map((cookie) => cookie.cookieString())]);
  return pairs.size === 0 ? null : [...pairs].join('; ');
}

/** A path of the response above or below the base address: calls go to paths below it. */
function isUnder({ path, pathIsDefault }: Cookie, base: string): boolean {
  if (path === null || pathIsDefault === true) return true;
  return pathMatch(base, path) || pathMatch(path, base);
}

/** A session expires after this time without use. */
const lifetimeMs = 35 * 60_000;
const field = z.string().min(1).max(1024);
const fields = { username: field, password: field, organization_id: field, dev_key: field };

/** A login whose session goes into the provider's own headers. */
export const bill: AuthModeRules = {
  mode: 'BILL',
  integration: null,
  importShape: () => strict({ type: z.literal('BILL'), ...fields }),
  import: (input, context) => loggedIn(input, context),
  form: { shape: () => strict(fields), submit: loggedIn },
  redirect: null,
  renewal: { isPossible: () => true, spendsToken: () => false, renew: loggedIn },
  isTested: false,
  authorization: () => null,
};

async function loggedIn(input: JsonObject, context: ModeContext): Promise<ObtainedCredentials> {
  const { provider, clock } = context;
  const values = tokenValues(context, input);
  const template = typeof provider.token_url === 'string' ? provider.token_url : undefined;
  const text = (name: string): string => textAt(input, name) ?? '';
  const { body } = await requestToken(context, {
    url: addressOf(provider, 'token_url', template, values),
    params: {
      username: text('username'),
      password: text('password'),
      organizationId: text('organization_id'),
      devKey: text('dev_key'),
    },
    format: 'json',
    headers: headersOf(provider.token_headers, values),
    failure: 'invalid_credentials',
  });
  const sessionId = textAt(body, 'sessionId');
  if (sessionId === null) throw answerWithout('session', provider, 'invalid_credentials');
  const expiresAt = clock.now() + lifetimeMs;
  return {
    credentials: {
      type: 'BILL',
      username: text('username'),
      password: text('password'),
      organization_id: textAt(body, 'organizationId') ?? text('organization_id'),
      dev_key: text('dev_key'),
      session_id: sessionId,
      user_id: textAt(body, 'userId') ?? '',
      expires_at: iso(expiresAt),
      raw: body,
    },
    expiresAt,
  };
}
