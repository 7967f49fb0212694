import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { CookieJar } from 'tough-cookie';

/** What the provider knows of someone. */
export interface Account {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

export interface FakeIdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** By `sub`, which is also what is entered at the sign-in. */
  readonly accounts: Map<string, Account>;
  /** Registers the service, whose address is known after the provider's; only then it answers. */
  register(callbackUrl: string): void;
  /**
   * What a person does at the provider: signs in by name and agrees, or turns back.
   * @returns the callback URL to which the provider sends the browser
   */
  authorize(url: string, sub: string | null): Promise<string>;
}

const clientId = 'gateway';
const clientSecret = 'secret-of-the-gateway-at-its-identity-provider';

/** An OpenID Connect provider of a package, on loopback, with a page that asks for a name. */
export async function startIdentityProvider(): Promise<FakeIdentityProvider> {
  const accounts = new Map<string, Account>();
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    clientId,
    clientSecret,
    accounts,
    register(callbackUrl) {
      const answer = providerOf(issuer, callbackUrl, accounts).callback();
      server.on('request', (request, response) => void answer(request, response));
    },
    authorize,
    [Symbol.asyncDispose]: () => closed(server),
  };
}

function providerOf(
  issuer: string,
  callbackUrl: string,
  accounts: ReadonlyMap<string, Account>,
): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [callbackUrl],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    cookies: { keys: ['of a test'] },
    features: { devInteractions: { enabled: true } },
    pkce: { required: () => true },
    findAccount(_context, sub) {
      const account = accounts.get(sub);
      if (account === undefined) return undefined;
      return { accountId: sub, claims: () => ({ sub, ...account }) };
    },
  });
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

/** Follows redirects at the provider with its cookies, fills in its two forms, and stops at the callback. */
export async function authorize(url: string, sub: string | null): Promise<string> {
  const jar = new CookieJar();
  const { origin } = new URL(url);
  let target = url;
  let form: Readonly<Record<string, string>> | null = null;
  for (let step = 0; step < stepsMax; step++) {
    const response = await fetch(target, {
      redirect: 'manual',
      headers: { cookie: await jar.getCookieString(target) },
      ...(form === null ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) await jar.setCookie(cookie, target);
    form = null;
    const location = response.headers.get('location');
    if (location !== null) {
      target = new URL(location, target).href;
      if (new URL(target).origin !== origin) return target;
      continue;
    }
    const page = await response.text();
    if (response.status !== 200)
      throw new Error(`the provider answered ${response.status}: ${page}`);
    if (sub === null) target = `${target}/abort`;
    else if (page.includes('name="login"')) form = { prompt: 'login', login: sub, password: 'any' };
    else form = { prompt: 'consent' };
  }
  throw new Error('the provider does not come to an end');
}

const stepsMax = 20;
