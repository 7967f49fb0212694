import { plainText } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { TokenStep } from '#modules/connections/providers/definition.ts';
import { demand, paramsOf, Refused, unauthorized, type Answer, type Incoming } from './exchange.ts';
import { typedInto } from './fill.ts';
import {
  demandHeaders,
  demandParams,
  demandPlaced,
  demandToken,
  type Rules,
  type Stage,
} from './rules.ts';
import { demandJwt, signingFields } from './signed.ts';
import { secret, TokenStore } from './tokens.ts';
import { withPath } from './with-path.ts';

const wrongLogin = { status: 401, error: 'invalid_login' };

/** A login that gives a session for the provider's own headers. */
export function billRules(stage: Stage): Rules {
  const given = {
    username: secret('user'),
    password: secret('password'),
    organization_id: secret('organization'),
    dev_key: secret('dev-key'),
  };
  const sessions = new Set<string>();
  return {
    integration: null,
    form: given,
    importable: () => ({ type: 'BILL', ...given }),
    answer(request) {
      if (request.role !== 'token') {
        throw new Refused(404, 'not_found', `no_such_endpoint: ${request.role}`);
      }
      demand(request.method === 'POST', 'wrong_method');
      const sent = paramsOf(request, 'json');
      demand(sent['username'] === given.username, 'wrong_user', wrongLogin);
      demand(sent['password'] === given.password, 'wrong_password', wrongLogin);
      demand(sent['organizationId'] === given.organization_id, 'wrong_organization', wrongLogin);
      demand(sent['devKey'] === given.dev_key, 'wrong_dev_key', wrongLogin);
      const sessionId = secret('session');
      sessions.add(sessionId);
      const { organization_id: organizationId } = given;
      return { status: 200, body: { sessionId, organizationId, userId: secret('user-id') } };
    },
    admit(request) {
      const { known } = stage;
      known['credentials.dev_key'] = given.dev_key;
      const isLive = [...sessions].some((session) => {
        known['credentials.session_id'] = session;
        return isPlaced(stage, request);
      });
      demand(isLive, 'unknown_session', unauthorized);
    },
    endTokens: () => sessions.clear(),
  };
}

function isPlaced(stage: Stage, request: Incoming): boolean {
  try {
    demandPlaced(stage, request);
    return true;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

/** A call, or several one after the other, that give a token. */
export function twoStepRules(stage: Stage): Rules {
  const { definition, known } = stage;
  const { token_response: paths = { token: 'token' } } = definition;
  const signing = definition.signature === undefined ? null : signingFields(stage);
  const fields: Record<string, string> =
    signing?.fields ??
    Object.fromEntries(
      Object.entries(definition.credentials ?? {}).map(([name, field]) => [
        name,
        field.pattern === undefined && field.secret === true
          ? secret(name)
          : typedInto(name, field),
      ]),
    );
  for (const [name, value] of Object.entries(fields)) known[`credentials.${name}`] = value;
  const tokens = new TokenStore(stage.options);
  const steps = definition.additional_steps ?? [];
  /** What the answer of each step held, for the templates of later ones. */
  const given: Record<string, string> = {};
  return {
    integration: null,
    form: fields,
    importable: () => ({ type: 'TWO_STEP', ...fields }),
    async answer(request) {
      if (request.role === 'refresh') return refreshed(request);
      const at = request.role === 'token' ? 0 : Number(request.role.slice('step'.length));
      const step = at === 0 ? (definition as Partial<TokenStep>) : steps[at - 1];
      demand(step !== undefined, `no_such_endpoint: ${request.role}`, { status: 404 });
      await demandStep(request, step);
      return at === steps.length ? granted(tokens.issue()) : { status: 200, body: stepAnswer(at) };
    },
    admit(request) {
      demandPlaced(stage, request, tokens.live());
      const isOwn = Object.values(definition.proxy?.headers ?? {}).some((template) =>
        /accessToken|_cookies/.test(template),
      );
      if (!isOwn) demandToken(stage, request, tokens.live());
    },
    endTokens() {
      tokens.endAccess();
      known['credentials._cookies'] = 'ended';
    },
  };

  async function demandStep(request: Incoming, step: Partial<TokenStep>): Promise<void> {
    const method = step.token_request_method ?? 'POST';
    demand(request.method === method, 'wrong_method');
    const format = method === 'GET' ? 'query' : (definition.body_format ?? 'json');
    const sent = paramsOf(request, format);
    const values = { ...known, ...given };
    if (signing !== null && JSON.stringify(step.token_params).includes('${token}')) {
      values['token'] = await signedIn(step.token_params ?? {}, sent);
    }
    demandHeaders(step.token_headers, request, values);
    demandParams(step.token_params, sent, values);
  }

  async function signedIn(stated: JsonObject, sent: JsonObject): Promise<string> {
    const name = Object.keys(stated).find((key) => stated[key] === '${token}') ?? '';
    const token = plainText(sent[name] ?? '');
    if (signing !== null) await demandJwt(stage, token, signing);
    return token;
  }

  /** Whatever later steps ask for of this one. */
  function stepAnswer(at: number): JsonObject {
    const body: Record<string, unknown> = {};
    const wanted = JSON.stringify(steps).matchAll(/\$\{(step(\d+)\.([^}]+))\}/g);
    for (const [, name = '', n, path = ''] of wanted) {
      if (Number(n) !== at + 1) continue;
      given[name] ??= secret(`step${at + 1}`);
      withPath(body, path, given[name]);
    }
    return body as JsonObject;
  }

  function refreshed(request: Incoming): Answer {
    const stated = definition.refresh_token_params ?? {};
    const sent = paramsOf(request, definition.body_format ?? 'json');
    const name = Object.keys(stated).find((key) => stated[key] === '${refresh_token}') ?? '';
    demandHeaders(definition.refresh_token_headers ?? definition.token_headers, request, known);
    demandParams(stated, sent, { ...known, refresh_token: plainText(sent[name] ?? '') });
    return granted(tokens.renew(sent[name]));
  }

  function granted({
    accessToken,
    refreshToken,
    expiresIn,
  }: ReturnType<TokenStore['issue']>): Answer {
    const body: Record<string, unknown> = {};
    withPath(body, paths.token, accessToken);
    if (paths.refresh_token !== undefined) withPath(body, paths.refresh_token, refreshToken);
    if (paths.token_expiration !== undefined) {
      const isLength = paths.token_expiration_strategy === 'expireIn';
      const end = isLength ? expiresIn : new Date(Date.now() + expiresIn * 1000).toISOString();
      withPath(body, paths.token_expiration, end);
    }
    for (const path of definition.token_response_metadata ?? []) {
      withPath(body, path, known[`connectionConfig.${path}`] ?? '');
    }
    const hasCookies = definition.token_response_headers?.includes('set-cookie') === true;
    known['credentials._cookies'] = `session=${accessToken}`;
    return {
      status: 200,
      ...(hasCookies
        ? { headers: { 'set-cookie': `session=${accessToken}; Path=/; HttpOnly` } }
        : {}),
      body: body as JsonObject,
    };
  }
}
