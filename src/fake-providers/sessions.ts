import { plainText } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import type { Provider, TokenStep } from '#modules/connections/providers/definition.ts';
import {
  demand,
  paramsOf,
  Refusal,
  unauthorized,
  type Answer,
  type ReceivedRequest,
} from './exchange.ts';
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
import { secret, TokenStore, type IssuedTokens } from './tokens.ts';
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
        throw new Refusal(404, 'not_found', `no_such_endpoint: ${request.role}`);
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

function isPlaced(stage: Stage, request: ReceivedRequest): boolean {
  try {
    demandPlaced(stage, request);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** A call, or several one after the other, that give a token. */
class StepServer {
  readonly fields: Record<string, string>;
  readonly tokens: TokenStore;
  readonly #stage: Stage;
  readonly #signing: ReturnType<typeof signingFields> | null;
  readonly #steps: readonly TokenStep[];
  /** What the answer of each step held, for the templates of later ones. */
  readonly #given: Record<string, string> = {};

  constructor(stage: Stage) {
    this.#stage = stage;
    const { definition, known } = stage;
    this.#steps = definition.additional_steps ?? [];
    this.#signing = definition.signature === undefined ? null : signingFields(stage);
    this.fields = this.#signing?.fields ?? typedFields(definition);
    for (const [name, value] of Object.entries(this.fields)) known[`credentials.${name}`] = value;
    this.tokens = new TokenStore(stage);
  }

  async answer(request: ReceivedRequest): Promise<Answer> {
    if (request.role === 'refresh') return this.#refreshed(request);
    const at = request.role === 'token' ? 0 : Number(request.role.slice('step'.length));
    const step = at === 0 ? this.#stage.definition : this.#steps[at - 1];
    demand(step !== undefined, `no_such_endpoint: ${request.role}`, { status: 404 });
    await this.#demandStep(request, step);
    if (at === this.#steps.length) return this.#granted(this.tokens.issue());
    return { status: 200, body: this.#stepAnswer(at) };
  }

  async #demandStep(request: ReceivedRequest, step: Omit<TokenStep, 'token_url'>): Promise<void> {
    const { definition, known } = this.#stage;
    const method = step.token_request_method ?? 'POST';
    demand(request.method === method, 'wrong_method');
    const format = method === 'GET' ? 'query' : (definition.body_format ?? 'json');
    const sent = paramsOf(request, format);
    const values = { ...known, ...this.#given };
    if (this.#signing !== null && JSON.stringify(step.token_params).includes('${token}')) {
      values['token'] = await this.#signedIn(this.#signing, step.token_params ?? {}, sent);
    }
    demandHeaders(step.token_headers, request, values);
    demandParams(step.token_params, sent, values);
  }

  async #signedIn(
    signing: ReturnType<typeof signingFields>,
    stated: JsonObject,
    sent: JsonObject,
  ): Promise<string> {
    const name = Object.keys(stated).find((key) => stated[key] === '${token}') ?? '';
    const token = plainText(sent[name] ?? '');
    await demandJwt(this.#stage, token, signing);
    return token;
  }

  /** Whatever later steps ask for of this one. */
  #stepAnswer(at: number): JsonObject {
    const body: Record<string, unknown> = {};
    const wanted = JSON.stringify(this.#steps).matchAll(/\$\{(step(\d+)\.([^}]+))\}/g);
    for (const [, name = '', n, path = ''] of wanted) {
      if (Number(n) !== at + 1) continue;
      this.#given[name] ??= secret(`step${at + 1}`);
      withPath(body, path, this.#given[name]);
    }
    return body as JsonObject;
  }

  #refreshed(request: ReceivedRequest): Answer {
    const { definition, known } = this.#stage;
    const stated = definition.refresh_token_params ?? {};
    const sent = paramsOf(request, definition.body_format ?? 'json');
    const name = Object.keys(stated).find((key) => stated[key] === '${refresh_token}') ?? '';
    demandHeaders(definition.refresh_token_headers ?? definition.token_headers, request, known);
    demandParams(stated, sent, { ...known, refresh_token: plainText(sent[name] ?? '') });
    return this.#granted(this.tokens.renew(sent[name]));
  }

  #granted({ accessToken, refreshToken, expiresIn }: IssuedTokens): Answer {
    const { definition, known } = this.#stage;
    const { token_response: paths = { token: 'token' } } = definition;
    const body: Record<string, unknown> = {};
    withPath(body, paths.token, accessToken);
    if (paths.refresh_token !== undefined) withPath(body, paths.refresh_token, refreshToken);
    if (paths.token_expiration !== undefined) {
      const isLength = paths.token_expiration_strategy === 'expireIn';
      const end = new Date(systemClock.now() + expiresIn * 1000).toISOString();
      withPath(body, paths.token_expiration, isLength ? expiresIn : end);
    }
    for (const path of definition.token_response_metadata ?? []) {
      withPath(body, path, known[`connectionConfig.${path}`] ?? '');
    }
    const hasCookies = definition.token_response_headers?.includes('set-cookie') === true;
    const cookie = `session=${accessToken}`;
    known['credentials._cookies'] = cookie;
    const headers = hasCookies ? { 'set-cookie': `${cookie}; Path=/; HttpOnly` } : {};
    return { status: 200, headers, body: body as JsonObject };
  }
}

const typedFields = ({ credentials = {} }: Provider): Record<string, string> =>
  Object.fromEntries(
    Object.entries(credentials).map(([name, field]) => [
      name,
      field.pattern === undefined && field.secret === true ? secret(name) : typedInto(name, field),
    ]),
  );

export function twoStepRules(stage: Stage): Rules {
  const { definition, known } = stage;
  const server = new StepServer(stage);
  const { fields, tokens } = server;
  return {
    integration: null,
    form: fields,
    importable: () => ({ type: 'TWO_STEP', ...fields }),
    answer: (request) => server.answer(request),
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
}
