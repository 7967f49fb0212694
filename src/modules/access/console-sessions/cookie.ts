import { type BrowserHeaders, cookieOf, isLoopbackHost } from '#http/same-origin.ts';
import type { Fingerprints } from '../vault/vault.ts';

/**
 * The name differs between installations, because browsers send a cookie to every port of its host; all processes of one
 * installation share the key of the hash.
 */
const plainNameOf = (vault: Fingerprints): string =>
  `svc_console_${vault.fingerprint('console-cookie', '').slice(0, 16)}`;

/** A browser takes a cookie of this prefix only with `Secure` and `Path=/`, from this very host (RFC 6265bis, 4.1.3.2). */
const secureNameOf = (plainName: string): string => `__Host-${plainName}`;

/** A token: 256 random bits. */
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

/** The token in the cookie of the console; null without one. */
export function tokenOf(vault: Fingerprints, { cookie, host = '' }: BrowserHeaders): string | null {
  if (cookie === undefined) return null;
  const plainName = plainNameOf(vault);
  const token =
    cookieOf(cookie, secureNameOf(plainName)) ??
    (isLoopbackHost(host) ? cookieOf(cookie, plainName) : null);
  return token !== null && tokenPattern.test(token) ? token : null;
}

/**
 * `Set-Cookie` of a token: `Secure` outside loopback, where the console needs TLS.
 * @param seconds until it ends; 0 removes the cookie
 */
export function cookieFor(
  vault: Fingerprints,
  { host = '', origin }: BrowserHeaders,
  token: string,
  seconds: number,
): string {
  // A proxy in front may have changed `Host`, never `Origin`.
  const page = origin !== undefined && URL.canParse(origin) ? new URL(origin).host : host;
  const isPlain = isLoopbackHost(host) && isLoopbackHost(page);
  const plainName = plainNameOf(vault);
  const name = isPlain ? plainName : secureNameOf(plainName);
  const rules = `HttpOnly; SameSite=Strict; Path=/; Max-Age=${seconds}`;
  return `${name}=${token}; ${rules}${isPlain ? '' : '; Secure'}`;
}
