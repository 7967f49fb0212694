import { z } from 'zod';
import type { AnyRoute } from './define-route.ts';

/** The headers by which a browser names the page that sends a request, and its cookies. */
export const browserHeaders = z.object({
  cookie: z.string().optional(),
  host: z.string().optional(),
  origin: z.string().optional(),
  'sec-fetch-site': z.string().optional(),
});

export type BrowserHeaders = z.output<typeof browserHeaders>;

/**
 * Whether a page of this service sent the request, as far as browsers say: by Fetch Metadata (`Sec-Fetch-Site`) and by
 * `Origin`. Browsers leave out the first without TLS outside loopback, and the second on a GET of the same origin: a
 * request without either passes only if it changes nothing.
 * @param publicUrl a proxy in front may have changed `Host`
 */
export function isSameOrigin(
  { host = '', origin, 'sec-fetch-site': site }: BrowserHeaders,
  { publicUrl, isChange }: { readonly publicUrl: string; readonly isChange: boolean },
): boolean {
  if (site !== undefined && site !== 'same-origin') return false;
  // `Origin: null` is also sent by pages that hide their address (`referrer-policy: no-referrer`).
  if (origin === undefined || (origin === 'null' && site !== undefined)) {
    return site !== undefined || !isChange;
  }
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  return page.host === host.toLowerCase() || page.origin === originOf(publicUrl);
}

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

/** Whether a `Host` header, or the host of a URL, names this machine, which browsers trust without TLS. */
export function isLoopbackHost(host: string): boolean {
  const url = `http://${host}`;
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** The value of a cookie; null if the header has none of the name. */
export function cookieOf(header: string | undefined, name: string): string | null {
  const start = `${name}=`;
  const found = header?.split(';').find((part) => part.trimStart().startsWith(start));
  return found === undefined ? null : found.trim().slice(start.length);
}

/** First segments of paths whose answers others write, or where a browser arrives from elsewhere. */
const closedToCookies: ReadonlySet<string> = new Set([
  'proxy',
  'mcp',
  'webhook',
  'oauth',
  'console',
]);

/**
 * Whether the cookie of the console counts on a route: it stands for a key, where a key is taken in the header. Of
 * `/connect` that is the creation of connect sessions alone.
 */
export function takesConsoleCookie({
  credential,
  path,
}: Pick<AnyRoute, 'credential' | 'path'>): boolean {
  const isKeyed = credential === 'environment' || credential === 'account';
  return isKeyed && !closedToCookies.has(path.split('/')[1] ?? '');
}
