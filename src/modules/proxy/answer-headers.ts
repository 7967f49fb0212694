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
 * Headers of the provider that reach the caller: all but those of the connection, those that `Connection`
 * names, and `Access-Control-*`, which speak of another origin.
 */
export function callerHeaders(headers: AnswerHeaders): Record<string, string | string[]> {
  const named = namedBy(headers['connection']);
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    const isDropped = dropped.has(name) || named.has(name) || name.startsWith('access-control-');
    if (value !== undefined && !isDropped)
      kept[name] = typeof value === 'string' ? value : [...value];
  }
  return kept;
}

const nothing: ReadonlySet<string> = new Set();

/** Names in a `Connection` header; most say no more than that it is kept. */
function namedBy(connection: string | readonly string[] | undefined): ReadonlySet<string> {
  if (connection === undefined || connection === 'keep-alive') return nothing;
  const values = typeof connection === 'string' ? [connection] : connection;
  const names = values.flatMap((value) => value.toLowerCase().split(','));
  return new Set(names.map((name) => name.trim()));
}

/** The first value of a header. */
export function firstOf(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value[0];
}

/** As `HttpReply` has them: several values joined. */
export function joined(headers: AnswerHeaders): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    return [[name, typeof value === 'string' ? value : value.join(', ')]];
  });
  return Object.fromEntries(entries);
}
