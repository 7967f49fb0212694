import { type BrowserHeaders, cookieOf, isLoopbackHost } from '#http/same-origin.ts';

const plainName = 'svc_console';
/** A browser takes a cookie of this prefix only with `Secure` and `Path=/`, from this very host (RFC 6265bis, 4.1.3.2). */
const secureName = `__Host-${plainName}`;

/** A token: 256 random bits. */
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

/** The token in the cookie of the console; null without one. */
export function tokenOf({ cookie, host = '' }: BrowserHeaders): string | null {
  const token =
    cookieOf(cookie, secureName) ?? (isLoopbackHost(host) ? cookieOf(cookie, plainName) : null);
  return token !== null && tokenPattern.test(token) ? token : null;
}

/**
 * `Set-Cookie` of a token: `Secure` outside loopback, where the console needs TLS.
 * @param seconds until it ends; 0 removes the cookie
 */
export function cookieFor(
  { host = '', origin }: BrowserHeaders,
  token: string,
  seconds: number,
): string {
  // A proxy in front may have changed `Host`, never `Origin`.
  const page = origin !== undefined && URL.canParse(origin) ? new URL(origin).host : host;
  const isPlain = isLoopbackHost(host) && isLoopbackHost(page);
  const name = isPlain ? plainName : secureName;
  const rules = `HttpOnly; SameSite=Strict; Path=/; Max-Age=${seconds}`;
  return `${name}=${token}; ${rules}${isPlain ? '' : '; Secure'}`;
}
