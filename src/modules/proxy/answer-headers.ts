import type { AnswerHeaders } from '#ports/http-client.ts';
import { isOfBoth, proxyPrefix } from './provider-headers.ts';

/** Hop-by-hop headers (RFC 9110 section 7.6.1), and headers that the gateway sets. */
const dropped = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const noContent = 204;

/**
 * Headers of the provider that are passed to the caller unchanged: all except hop-by-hop headers, those that
 * `Connection` names, and `Access-Control-*`, which concern another origin. The result has no header that the gateway
 * sets in each response, and no content length where the status excludes a body (RFC 9110 section 8.6).
 */
export function callerHeaders(status: number, headers: AnswerHeaders): string[] {
  const named = namedBy(headers);
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (isDropped(name) || named?.has(name)) continue;
    if (status === noContent && name === 'content-length') continue;
    kept.push(isOfBoth(name) ? `${proxyPrefix}${name}` : name, headers[at + 1] ?? '');
  }
  return kept;
}

/** Fast path: the first letter excludes most names. */
function isDropped(name: string): boolean {
  switch (name.charCodeAt(0)) {
    case 0x61: // a
      return name.startsWith('access-control-');
    case 0x70: // p
      return name.startsWith('proxy-');
    case 0x63: // c
    case 0x6b: // k
    case 0x74: // t
    case 0x75: // u
      return dropped.has(name);
    default:
      return false;
  }
}

/** Names in `Connection` headers; most contain only `keep-alive`. */
function namedBy(headers: AnswerHeaders): ReadonlySet<string> | null {
  const value = joinedOf(headers, 'connection');
  if (value === undefined || value === 'keep-alive') return null;
  const names = value.toLowerCase().split(',');
  return new Set(names.map((name) => name.trim()));
}

function joinedOf(headers: AnswerHeaders, name: string): string | undefined {
  let value: string | undefined;
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === name)
      value = value === undefined ? headers[at + 1] : `${value},${headers[at + 1] ?? ''}`;
  }
  return value;
}

/** The first value of a header. */
export function firstOf(headers: AnswerHeaders, name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return headers[at + 1];
  return undefined;
}

/** In the form of `HttpReply`: several values joined. */
export function joined(headers: AnswerHeaders): Record<string, string> {
  const byName = new Map<string, string>();
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = headers.slice(at, at + 2);
    const before = byName.get(name);
    byName.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(byName);
}
