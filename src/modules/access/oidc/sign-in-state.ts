import { z } from 'zod';
import { cookieOf, isLoopbackHost, type BrowserHeaders } from '#http/same-origin.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { Clock } from '#kernel/time.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { SignInChecks } from '#ports/identity-provider.ts';
import type { Vault } from '../vault/vault.ts';

/** A sign-in between its start and its return; sealed in a cookie, it is stored nowhere else. */
export interface SignInState extends SignInChecks {
  /** Path of the console. */
  readonly returnTo: string;
  /** Id of the session that the browser had; null without one. */
  readonly replacesId: string | null;
  readonly startedAt: number;
}

const shape = z.strictObject({
  verifier: z.string(),
  state: z.string(),
  nonce: z.string(),
  returnTo: z.string(),
  replacesId: z.string().nullable(),
  startedAt: z.number(),
});

interface Deps {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly coordination: Coordination;
}

const keyId = 'account';
const context = 'oidc sign-in';

const cookieName = (vault: Vault, isPlain: boolean): string => {
  const name = `svc_sign_in_${vault.fingerprint('console-cookie', '').slice(0, 16)}`;
  return isPlain ? name : `__Secure-${name}`;
};

/** `Lax`, because the provider sends the browser back from its own page; only to the return, and only for minutes. */
const rules = 'HttpOnly; SameSite=Lax; Path=/console/oidc';

const isPlainAt = (publicUrl: string): boolean =>
  publicUrl.startsWith('http:') && isLoopbackHost(new URL(publicUrl).host);

/** `Set-Cookie` of a sign-in that begins. */
export async function stateCookie(
  { vault }: Pick<Deps, 'vault'>,
  publicUrl: string,
  state: SignInState,
): Promise<string> {
  await vault.ready(keyId);
  const sealed = vault.seal(keyId, { ...state }, context);
  const isPlain = isPlainAt(publicUrl);
  const seconds = limits.identitySignInMs / 1000;
  const secure = isPlain ? '' : '; Secure';
  return `${cookieName(vault, isPlain)}=${sealed}; ${rules}; Max-Age=${seconds}${secure}`;
}

/** `Set-Cookie` that removes it. */
export function clearedCookie({ vault }: Pick<Deps, 'vault'>, publicUrl: string): string {
  const isPlain = isPlainAt(publicUrl);
  return `${cookieName(vault, isPlain)}=; ${rules}; Max-Age=0${isPlain ? '' : '; Secure'}`;
}

/**
 * The sign-in that began in this browser with the state, once.
 * @throws GatewayError `sign_in_expired`; `coordination_unavailable`
 */
export async function takeState(
  deps: Deps,
  publicUrl: string,
  { headers, state }: { readonly headers: BrowserHeaders; readonly state: string | undefined },
): Promise<SignInState> {
  const opened = await openCookie(deps, publicUrl, headers);
  const isOver = opened === null || deps.clock.now() >= opened.startedAt + limits.identitySignInMs;
  if (isOver || opened.state !== state) throw new GatewayError('sign_in_expired');
  // The lease is never released: the sign-in has expired before it.
  const name = `oidc-sign-in/${deps.vault.fingerprint('oidc-state', opened.state)}`;
  const lease = await deps.coordination.acquire(name, { ttlMs: 2 * limits.identitySignInMs });
  if (lease === null) throw new GatewayError('sign_in_expired');
  return opened;
}

async function openCookie(
  { vault }: Deps,
  publicUrl: string,
  { cookie }: BrowserHeaders,
): Promise<SignInState | null> {
  const sealed = cookieOf(cookie, cookieName(vault, isPlainAt(publicUrl)));
  if (sealed === null) return null;
  await vault.ready(keyId);
  try {
    return shape.parse(
      vault.open(keyId, sealed as Sealed<SignInState & Record<string, never>>, context),
    );
  } catch {
    // Not made by this installation, or changed on the way.
    return null;
  }
}

const anyOrigin = 'http://console.invalid';

/** The path of the console in a text of the browser; `/console` for what leads elsewhere. */
export function consolePathOf(text: string | undefined): string {
  const home = '/console';
  if (text === undefined || !text.startsWith('/') || !URL.canParse(text, anyOrigin)) return home;
  const { origin, pathname, search } = new URL(text, anyOrigin);
  const isConsole = pathname === home || pathname.startsWith(`${home}/`);
  if (origin !== anyOrigin || !isConsole || pathname.startsWith('/console/oidc')) return home;
  return pathname + search;
}
