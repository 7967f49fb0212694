import type { AnswerHeaders } from '../../ports/http-client.ts';

/** Of one connection only (RFC 9110 section 7.6.1), or ours to say. */
const dropped = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Headers of the provider that reach the caller, as they came: all but those of the connection, those that
 * `Connection` names, and `Access-Control-*`, which speak of another origin.
 */
export function callerHeaders(headers: AnswerHeaders): string[] {
  const named = namedBy(headers);
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const isDropped = dropped.has(name) || named.has(name) || name.startsWith('access-control-');
    if (!isDropped) kept.push(name, headers[at + 1] ?? '');
  }
  return kept;
}

const nothing: ReadonlySet<string> = new Set();

/** Names in `Connection` headers; most say no more than that it is kept. */
function namedBy(headers: AnswerHeaders): ReadonlySet<string> {
  const value = joinedOf(headers, 'connection');
  if (value === undefined || value === 'keep-alive') return nothing;
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

/** As `HttpReply` has them: several values joined. */
export function joined(headers: AnswerHeaders): Record<string, string> {
  const byName = new Map<string, string>();
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = headers.slice(at, at + 2);
    const before = byName.get(name);
    byName.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(byName);
}
