import { z } from 'zod';
import type { AnyRoute, RouteAnswer } from '#http/define-route.ts';
import { data, json, nothing } from '#http/responses.ts';
import { browserHeaders, type BrowserHeaders } from '#http/same-origin.ts';
import { GatewayError } from '#kernel/errors.ts';
import { IdentityFailure } from '#ports/identity-provider.ts';
import { ipPrefix } from '../audit/audited.ts';
import { browserSummary } from '../console-sessions/browser.ts';
import { cookieFor } from '../console-sessions/cookie.ts';
import { countSignIn, current, signInHeaders } from '../console-sessions/current.ts';
import { secondsOf, startPersonSession } from '../console-sessions/start.ts';
import { defineRoute, type AccessServices, type SignInSettings } from '../services.ts';
import { admit } from './handlers.ts';
import { refusalPage } from './refusal-page.ts';
import { consolePathOf, stateCookie, takeState } from './sign-in-state.ts';

const callbackPath = '/console/oidc/callback';
const noStore = { 'cache-control': 'no-store' };
const options = defineRoute({
  method: 'GET',
  path: '/console/sign-in',
  credential: 'none',
  scopes: [],
  summary: 'Get the ways to sign in to the console.',
  answers: {
    200: json(
      'The ways besides keys and links.',
      data(
        z.strictObject({
          identity_provider: z
            .strictObject({
              name: z.string().meta({
                description: 'Name of the identity provider.',
                examples: ['id.example.com'],
              }),
            })
            .nullable()
            .describe('The identity provider where people sign in; null without one.'),
        }),
      ),
    ),
  },
  errors: [],
  handle({ services: { signIn } }) {
    const shown = signIn && { name: signIn.provider.name };
    return Promise.resolve({
      status: 200,
      body: { data: { identity_provider: shown } },
      headers: noStore,
    });
  },
});

const showRefusal = (
  error: GatewayError,
  _search: string,
  services: AccessServices,
): Promise<RouteAnswer> => refusalPage(error, services);

const start = defineRoute({
  method: 'GET',
  path: '/console/oidc/start',
  credential: 'none',
  scopes: [],
  writes: true,
  summary: 'Start a sign-in with the identity provider.',
  description: 'A browser navigates here, and is redirected. Refusals are pages.',
  headers: browserHeaders,
  query: z.strictObject({
    return_to: z.string().max(2048).optional().describe('Path of the console to return to.'),
  }),
  answers: { 302: nothing('To the identity provider.') },
  errors: ['not_found', 'sign_in_failed', 'identity_provider_unavailable'],
  refusalPage: showRefusal,
  handle: ({ query, headers, services, address }) =>
    explained(services, async (signIn) => {
      await countSignIn(services, address);
      const { publicUrl } = services.settings;
      const { url, checks } = await signIn.provider.begin(publicUrl + callbackPath);
      const existing = await current(services, headers);
      const cookie = await stateCookie(services, publicUrl, {
        ...checks,
        returnTo: consolePathOf(query.return_to),
        replacesId: existing?.session.id ?? null,
        startedAt: services.clock.now(),
      });
      return { status: 302, headers: { ...noStore, location: url, 'set-cookie': cookie } };
    }),
});

const callback = defineRoute({
  method: 'GET',
  path: callbackPath,
  credential: 'none',
  scopes: [],
  writes: true,
  summary: 'Finish a sign-in with the identity provider.',
  description: 'The provider sends the browser here. Refusals are pages.',
  headers: signInHeaders,
  query: z.record(z.string(), z.unknown()),
  answers: { 302: nothing('Back to the console.') },
  errors: [
    'not_found',
    'sign_in_expired',
    'sign_in_failed',
    'sign_in_refused',
    'no_role',
    'person_deactivated',
    'identity_provider_unavailable',
  ],
  refusalPage: showRefusal,
  handle: ({ query, headers, services, address }) =>
    explained(services, (signIn) => finish(services, signIn, { query, headers, address })),
});

interface Return {
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: BrowserHeaders & { readonly 'user-agent'?: string | undefined };
  readonly address: string;
}

async function finish(
  services: AccessServices,
  signIn: SignInSettings,
  { query, headers, address }: Return,
): Promise<RouteAnswer> {
  const { publicUrl } = services.settings;
  const parameters = Object.entries(query).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const returned = new URL(publicUrl + callbackPath);
  returned.search = new URLSearchParams(parameters).toString();
  const state = returned.searchParams.get('state') ?? undefined;
  const begun = await takeState(services, publicUrl, { headers, state });
  const claims = await signIn.provider.finish(returned, begun);
  const person = await admit(services, signIn, claims).catch(async (error: unknown) => {
    if (error instanceof GatewayError) await auditRefusal(services, error, address);
    throw error;
  });
  const browser = browserSummary(headers['user-agent'], address);
  const request = { browser, address, replacesId: begun.replacesId };
  const { session, token } = await startPersonSession(services, person, request);
  // The page of the provider is no page of ours: the host of the public address decides what the cookie is like.
  const page = { host: new URL(publicUrl).host };
  const cookie = cookieFor(services.vault, page, token, secondsOf(services, session));
  const location = publicUrl + begun.returnTo;
  return { status: 302, headers: { ...noStore, location, 'set-cookie': cookie } };
}

/** Those whom the provider knows and this installation refuses. */
const auditRefusal = (
  { audit }: AccessServices,
  { code }: GatewayError,
  address: string,
): Promise<void> =>
  audit.happened('account', {
    actor: 'anonymous',
    action: 'console_session.create',
    target: '*',
    outcome: code,
    ip_prefix: ipPrefix(address),
    details: null,
  });

/**
 * Runs a step of the sign-in; a failure of the provider becomes a refusal in its words.
 * @throws GatewayError `not_found` without an identity provider
 */
async function explained(
  { signIn, logger }: AccessServices,
  task: (signIn: SignInSettings) => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  if (signIn === null) {
    const message = 'No identity provider is set.';
    const fix = 'Set SVC_OIDC_ISSUER and SVC_OIDC_CLIENT_ID, or sign in with a key or a link.';
    throw new GatewayError('not_found', { message, fix });
  }
  try {
    return await task(signIn);
  } catch (error) {
    const refusal = error instanceof IdentityFailure ? refusalOf(error) : error;
    if (refusal instanceof GatewayError) {
      logger.info({ code: refusal.code, reason: refusal.message }, 'a sign-in was refused');
    }
    throw refusal;
  }
}

const codesOfFailures = {
  refused: 'sign_in_refused',
  unavailable: 'identity_provider_unavailable',
  invalid: 'sign_in_failed',
} as const;

/** In the words of the provider. */
function refusalOf({ kind, message: reason }: IdentityFailure): GatewayError {
  if (kind === 'refused') {
    const message = `The identity provider did not sign you in: ${reason}`;
    return new GatewayError('sign_in_refused', { message, fix: 'Start the sign-in again.' });
  }
  const text = kind === 'unavailable' ? 'does not answer' : 'did not confirm the sign-in';
  const message = `The identity provider ${text}: ${reason}`;
  return new GatewayError(codesOfFailures[kind], { message });
}

export const oidcRoutes: readonly AnyRoute[] = [options, start, callback];
