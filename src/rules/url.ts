import { LRUCache } from 'lru-cache';
import { GatewayError } from '#kernel/errors.ts';
import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';
import type { Destination } from '#ports/http-client.ts';

/** All but unreserved characters, in upper-case hexadecimal (RFC 3986 section 2.3). */
export const percentEncoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/**
 * The base and the endpoint with exactly one `/` between them. An endpoint that repeats the base, or its path, is
 * stripped of it once. Scheme, host, port and base path stay those of the base.
 * @throws GatewayError `missing_api_url` (the base is no http URL), `url_not_allowed`
 */
export function joinUrl(base: string, endpoint: string): URL {
  const from = knownBase(base);
  const stripped = stripBase(base, from, endpoint);
  refuseEscapes(stripped);
  const [path, query] = splitOnce(stripped.replace(/^\/+/, ''), '?');
  const queries = [from.query, query].filter((text) => text !== '').join('&');
  const below = path === '' ? '' : `/${path}`;
  const url = URL.parse(`${from.root}${below}${queries === '' ? '' : `?${queries}`}`);
  if (url === null) throw new GatewayError('missing_api_url');
  const inside = url.origin === from.origin && url.pathname.startsWith(from.pathname);
  if (!inside || url.username !== '' || url.password !== '') {
    throw new GatewayError('url_not_allowed');
  }
  if (url.hash !== '') url.hash = '';
  return url;
}

/** Common parts of every URL below a base. */
export interface PlainBase extends Omit<Destination, 'href' | 'pathname' | 'search'> {
  /** Path up to the last `/` before the endpoint. */
  readonly above: string;
}

/**
 * Null for a base with a query, or whose paths are normalized.
 * @throws as `joinUrl`
 */
export function plainBase(base: string): PlainBase | null {
  if (/[?#]/.test(base)) return null;
  const { origin, protocol, host, hostname, port, pathname, href } = joinUrl(base, '/x');
  if (href !== `${origin}${pathname}`) return null;
  return { origin, protocol, host, hostname, port, above: pathname.slice(0, -1) };
}

/** Path and query that the URL keeps unchanged: no escapes, no scheme, no segment that begins with a dot. */
const plainEndpoint = /^(?:\/[\w~!$&()*+,;=@-][\w~!$&()*+,;=@.-]*)+\/?(?:\?[\w~!$&()*+,;=@./-]+)?$/;

/** The URL that `joinUrl` makes, without parsing; null for an endpoint that needs more. */
export function plainUrl(base: PlainBase, endpoint: string): Destination | null {
  if (!plainEndpoint.test(endpoint)) return null;
  const mark = endpoint.indexOf('?');
  const path = mark < 0 ? endpoint.slice(1) : endpoint.slice(1, mark);
  const search = mark < 0 ? '' : endpoint.slice(mark);
  const { origin, protocol, host, hostname, port, above } = base;
  const repeatsPath = above !== '/' && `/${path}/`.startsWith(above);
  if (repeatsPath) return null;
  const pathname = above + path;
  const href = `${origin}${pathname}${search}`;
  return { href, origin, protocol, host, hostname, port, pathname, search };
}

interface BaseUrl {
  /** Without its query and trailing slashes. */
  readonly root: string;
  readonly query: string;
  readonly origin: string;
  readonly pathname: string;
}

/** Every call of a connection has the same base. */
const bases = new LRUCache<string, BaseUrl>({ max: 1000 });

/** @throws as `joinUrl` */
function knownBase(base: string): BaseUrl {
  const existing = bases.get(base);
  if (existing !== undefined) return existing;
  const [path, query] = splitOnce(base, '?');
  const root = withoutTrailingSlashes(path);
  const url = URL.canParse(base) ? URL.parse(root) : null;
  if (url === null) throw new GatewayError('missing_api_url');
  if (!/^https?:$/.test(url.protocol)) throw new GatewayError('url_not_allowed');
  const read = { root, query, origin: url.origin, pathname: url.pathname };
  bases.set(base, read);
  return read;
}

/**
 * Each key of an object replaces that key of the query; lists are joined by commas; undefined and null
 * are left out. Text is taken as a whole query.
 * @throws GatewayError `invalid_query_params` (text on a URL that has a query, or an object as a value)
 */
export function withParams(
  url: URL,
  params: Readonly<Record<string, unknown>> | string | undefined,
): URL {
  if (params === undefined || params === '') return url;
  const result = new URL(url);
  if (typeof params === 'string') {
    if (url.search !== '') {
      const message = 'The endpoint already has a query: send params as an object.';
      throw new GatewayError('invalid_query_params', { message });
    }
    result.search = params;
    return result;
  }
  const present = Object.entries(params).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  if (present.length === 0) return url;
  const replaced = new Set(present.map(([name]) => name));
  // The other pairs keep their bytes: some providers read `%20` and `+`, or `$` and `%24`, as different.
  const kept = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !replaced.has(nameOf(pair)));
  const added = present.map(([name, value]) => {
    return `${encodeURIComponent(name)}=${encodeURIComponent(paramText(name, value))}`;
  });
  result.search = [...kept, ...added].join('&');
  return result;
}

function nameOf(pair: string): string {
  const [name = ''] = [...new URLSearchParams(pair).keys()];
  return name;
}

function paramText(name: string, value: unknown): string {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values
    .filter((item) => item !== undefined && item !== null)
    .map((item) => {
      if (item instanceof Date) return item.toISOString();
      if (typeof item === 'string') return item;
      if (typeof item === 'number' || typeof item === 'boolean' || typeof item === 'bigint') {
        return String(item);
      }
      const message = `The query parameter ${name} must be text, a number, a boolean or a list of them.`;
      throw new GatewayError('invalid_query_params', { message });
    })
    .join(',');
}

/** A base that the endpoint repeats is taken off once: the whole address, or its path alone. */
function stripBase(base: string, { pathname }: BaseUrl, endpoint: string): string {
  const relative = endpoint.replace(/^\/+(?=https?:)/i, '');
  return (
    restAfter(withoutTrailingSlashes(base), relative) ??
    restAfter(withoutTrailingSlashes(pathname), `/${endpoint.replace(/^\/+/, '')}`) ??
    endpoint
  );
}

/** Null unless the text is the root or goes on below it. */
function restAfter(root: string, text: string): string | null {
  if (root === '' || !text.startsWith(root)) return null;
  const rest = text.slice(root.length);
  return rest === '' || rest.startsWith('/') || rest.startsWith('?') ? rest : null;
}

/** An endpoint with none of these needs no check. */
const suspicious = /[%\\\0-\x1f\x7f]|(?:^|\/)\./;

/** Dot segments, control characters and backslashes, also percent-encoded. */
function refuseEscapes(endpoint: string): void {
  if (!suspicious.test(endpoint)) return;
  const path = endpoint.split(/[?#]/, 1)[0] ?? '';
  const decoded = decodeMarks(decodeMarks(path));
  const hasDots = decoded.split('/').some((segment) => segment === '..' || segment === '.');
  if (!hasDots && !/[\0-\x1f\x7f\\]/.test(decoded) && !/[\0-\x1f\x7f]/.test(endpoint)) return;
  const message = 'The endpoint contains dot segments, backslashes or control characters.';
  throw new GatewayError('url_not_allowed', { message });
}

/** Decodes once the characters that could change the target of a path. */
function decodeMarks(path: string): string {
  return path.replace(/%([01][0-9a-f]|25|2e|2f|5c|7f)/gi, (escape) => {
    return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  });
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}
