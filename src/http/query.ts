import { GatewayError, type Issue } from '#kernel/errors.ts';

export type QueryValue = string | string[] | { [key: string]: string };
export type Query = Readonly<Record<string, QueryValue>>;

const empty: Query = Object.freeze({});

/**
 * `k=a` is text, `k=a&k=b` and `k[]=a` are lists, `k[name]=v` is an object
 * (docs/reference/http.md#bodies-and-queries); deeper nesting is refused. The schema validates each field. Names
 * are data: the result has no prototype that `__proto__` could reach.
 * @throws GatewayError `invalid_query_params`
 */
export function parseQuery(text: string): Query {
  if (text === '') return empty;
  const query = Object.create(null) as Record<string, QueryValue>;
  for (const [key, value] of pairsOf(text)) {
    const match = /^([^[\]]+)(?:\[([^[\]]*)\])?$/.exec(key);
    if (!match) throw refused(key, 'The name of a query parameter is not valid.');
    const [, name = '', inner] = match;
    if (inner === undefined || inner === '') addItem(query, name, value, inner === '');
    else addMember(query, name, inner, value);
  }
  return query;
}

function addItem(query: Record<string, QueryValue>, name: string, value: string, isList: boolean) {
  const before = query[name];
  if (before === undefined) query[name] = isList ? [value] : value;
  else if (typeof before === 'string') query[name] = [before, value];
  else if (Array.isArray(before)) before.push(value);
  else throw refused(name, 'A query parameter cannot be both a value and an object.');
}

function addMember(query: Record<string, QueryValue>, name: string, key: string, value: string) {
  const before = (query[name] ??= Object.create(null) as Record<string, string>);
  if (typeof before === 'string' || Array.isArray(before)) {
    throw refused(name, 'A query parameter cannot be both a value and an object.');
  }
  if (before[key] !== undefined) throw refused(name, `The key ${key} is sent twice.`);
  before[key] = value;
}

function pairsOf(text: string): [string, string][] {
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=');
      const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
      return [decode(name), decode(value)];
    });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw refused('', 'The query is not percent-encoded UTF-8.');
  }
}

function refused(name: string, message: string): GatewayError {
  const issue: Issue = { code: 'custom', message, path: name === '' ? [] : [name] };
  return new GatewayError('invalid_query_params', { errors: [issue] });
}
