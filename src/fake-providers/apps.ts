import { generateKeyPairSync, randomInt } from 'node:crypto';
import { jwtVerify } from 'jose';
import { systemClock } from '#kernel/time.ts';
import { demand, Refusal, type Answer, type ReceivedRequest } from './exchange.ts';
import { Oauth2Server } from './oauth2.ts';
import { demandToken, type Rules, type Stage } from './rules.ts';
import { TokenStore } from './tokens.ts';

const jwtSecondsMax = 600;

/** An app with its key, installed once: its JWT is traded for tokens of the installation. */
class InstalledApp {
  readonly appId = String(randomInt(100_000, 1_000_000));
  readonly installationId = String(randomInt(10_000_000, 100_000_000));
  readonly appLink: string;
  readonly privateKey: string;
  readonly tokens: TokenStore;
  readonly #publicKey;
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.tokens = new TokenStore(stage);
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.privateKey = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    this.#publicKey = publicKey;
    this.appLink =
      stage.known['connectionConfig.appPublicLink'] ?? `${stage.base}/authorize/apps/acme`;
    stage.known['connectionConfig.appPublicLink'] = this.appLink;
    stage.known['connectionConfig.app_id'] = this.appId;
    stage.known['connectionConfig.installation_id'] = this.installationId;
  }

  get credentials() {
    return { app_id: this.appId, app_link: this.appLink, private_key: this.privateKey };
  }

  get importable() {
    return { app_id: this.appId, installation_id: this.installationId };
  }

  /** The person installs the app, and is sent to where the app's settings say. */
  install({ method, url }: ReceivedRequest): Answer {
    demand(method === 'GET', 'wrong_method');
    const state = url.searchParams.get('state') ?? '';
    demand(state !== '', 'no_state');
    const back = new URL(this.#stage.setupUrl);
    back.searchParams.set('state', state);
    if (this.#stage.refusal !== null) back.searchParams.set('setup_action', 'request');
    else
      for (const [name, value] of Object.entries(this.installed))
        back.searchParams.set(name, value);
    return { status: 302, headers: { location: back.href }, body: '' };
  }

  get installed(): Record<string, string> {
    return { installation_id: this.installationId, setup_action: 'install' };
  }

  /** A token of the installation that the address names, for a JWT of the app. */
  async token(request: ReceivedRequest): Promise<Answer> {
    demand(request.method === 'POST', 'wrong_method');
    const assertion = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const badCredentials = { status: 401, error: 'bad_credentials' };
    const { payload } = await jwtVerify(assertion, this.#publicKey, {
      algorithms: ['RS256'],
      issuer: this.appId,
      requiredClaims: ['iat', 'exp'],
    }).catch((error: unknown) => {
      throw new Refusal(401, badCredentials.error, `wrong_jwt: ${String(error)}`);
    });
    const seconds = Number(payload.exp) - Number(payload.iat);
    demand(seconds <= jwtSecondsMax, 'jwt_lives_too_long', badCredentials);
    const { lifetime: expiresIn } = this.#stage;
    const expires_at = new Date(systemClock.now() + expiresIn * 1000).toISOString();
    return { status: 201, body: { token: this.tokens.issueAccess(), expires_at } };
  }
}

/** An app of its own (docs/reference/auth-modes.md#app). */
export function appRules(stage: Stage): Rules {
  const app = new InstalledApp(stage);
  return {
    integration: { type: 'APP', ...app.credentials },
    form: null,
    importable: () => ({ type: 'APP', ...app.importable }),
    answer(request) {
      if (request.role === 'authorize') return app.install(request);
      if (request.role === 'installation') return app.token(request);
      throw new Refusal(404, 'not_found', `no_such_endpoint: ${request.role}`);
    },
    admit: (request) => demandToken(stage, request, app.tokens.live()),
    endTokens: () => app.tokens.endAccess(),
  };
}

/** An app that also has a token of the user. */
export function customRules(stage: Stage): Rules {
  const app = new InstalledApp(stage);
  const server = new Oauth2Server(stage);
  const { clientId: client_id, clientSecret: client_secret } = server;
  return {
    integration: { type: 'CUSTOM', client_id, client_secret, ...app.credentials },
    form: null,
    importable: () => ({ type: 'CUSTOM', ...app.importable }),
    answer(request) {
      if (request.role === 'authorize') {
        return server.authorize(request, stage.options.installsApp === true ? app.installed : {});
      }
      if (request.role === 'token') return server.token(request);
      if (request.role === 'installation') return app.token(request);
      throw new Refusal(404, 'not_found', `no_such_endpoint: ${request.role}`);
    },
    admit: (request) => {
      demandToken(stage, request, [...app.tokens.live(), ...server.tokens.live()]);
    },
    endTokens() {
      app.tokens.endAccess();
      server.tokens.endAccess();
    },
  };
}
