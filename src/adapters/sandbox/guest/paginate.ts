import { mayLoseDigits, rawInteger } from '#kernel/exact-json.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { PaginateDefinition } from '#modules/connections/providers/definition.ts';
import { coded, throwIfAborted } from './bridge.ts';
import type { Config, ReadResponse, Response } from './http.ts';
import { toText } from './text.ts';
import { URLSearchParams } from './url-search-params.ts';

/** Characters of a repeated cursor or link in an error. */
const shownCharsMax = 200;

/** Settings of one call: the provider's, overridden by the caller's (docs/reference/functions.md#pagination). */
interface Settings extends PaginateDefinition {
  readonly type: 'cursor' | 'link' | 'offset';
  readonly on_page?: (page: { nextPageParam: unknown; response: Response }) => unknown;
}

/** A relative endpoint resolves against `relativeTo`, the URL of an earlier request. */
type Request = (config: Config, relativeTo?: string) => Promise<ReadResponse>;
type FetchPage = (values: Values) => Promise<ReadResponse>;
type Values = Readonly<Record<string, unknown>>;

/**
 * Pages of rows. `on_page` runs when the consumer requests the next page, so that its saves follow the consumer's
 * processing of this one.
 * @throws Error before the first request when the settings are incomplete
 */
export async function* paginate(
  config: Config,
  defaults: JsonObject | null,
  request: Request,
): AsyncGenerator<unknown[], undefined> {
  const settings = check({ ...defaults, ...(config['paginate'] as object | undefined) });
  const method = toText(config['method'] ?? 'GET').toUpperCase();
  const inBody = settings.in_body ?? ['POST', 'PUT', 'PATCH'].includes(method);
  const { paginate: _, ...plain } = config;
  const base: Config = { ...plain, method };
  const { limit, limit_name_in_request: limitName } = settings;
  const limits: Values = limit !== undefined && limitName ? { [limitName]: limit } : {};
  const fetchPage: FetchPage = (values) => {
    throwIfAborted();
    return request(place(base, { ...limits, ...values }, inBody));
  };
  if (settings.type === 'cursor') yield* byCursor(settings, fetchPage, inBody);
  else if (settings.type === 'offset') yield* byOffset(settings, fetchPage, inBody);
  else yield* byLink(settings, place(base, limits, inBody), request);
}

async function* byCursor(settings: Settings, fetchPage: FetchPage, inBody: boolean) {
  const { cursor_name_in_request: name = '', cursor_path_in_response: path = '' } = settings;
  const refuseCircle = circleGuard('cursor');
  let cursor: string | number | undefined;
  let values: Values = {};
  for (;;) {
    const before = cursor;
    const { response, text } = await fetchPage(values);
    const rows = rowsOf(response, settings);
    if (hasRows(rows)) yield rows;
    cursor = cursorOf(valueAt(response.data, path));
    await settings.on_page?.({ nextPageParam: cursor, response });
    if (cursor === undefined) return;
    // The last page of some providers is empty and repeats its own cursor.
    if (cursor === before && !hasRows(rows)) return;
    refuseCircle(String(cursor));
    const isInteger = inBody && isLargeInteger(cursor, text, path);
    values = { [name]: isInteger ? rawInteger(String(cursor)) : cursor };
  }
}

/** Zero is a cursor; blank text is none. */
function cursorOf(value: unknown): string | number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Whether the provider sent the text of digits as a number: it gets back what it sent. */
const isLargeInteger = (cursor: string | number, text: string, path: string): boolean =>
  typeof cursor === 'string' &&
  mayLoseDigits(text) &&
  typeof valueAt(JSON.parse(text), path) === 'number';

/**
 * Throws when a value comes again: at once after itself, otherwise in a later round of its circle. Keeps two values,
 * however many pages there are: the older one is replaced after 1, 2, 4, 8, … values.
 */
function circleGuard(what: 'cursor' | 'link'): (value: string) => void {
  let last: string | undefined;
  let kept: string | undefined;
  let age = 0;
  let ageMax = 1;
  return (value) => {
    if (value === last || value === kept) {
      const shown = value.length > shownCharsMax ? `${value.slice(0, shownCharsMax)}…` : value;
      const message = `The next ${what} ${JSON.stringify(shown)} was requested before: the provider's pages have no end.`;
      throw coded(new Error(message), 'pages_repeat');
    }
    last = value;
    age++;
    if (age < ageMax) return;
    kept = value;
    age = 0;
    ageMax *= 2;
  };
}

async function* byOffset(settings: Settings, fetchPage: FetchPage, inBody: boolean) {
  const { offset_name_in_request: name = '', limit } = settings;
  let offset = settings.offset_start_value ?? 0;
  let before: string | undefined;
  for (;;) {
    const { response, text } = await fetchPage({ [name]: inBody ? offset : String(offset) });
    const rows = rowsOf(response, settings);
    if (!hasRows(rows)) return;
    if (text === before) {
      const message = `The page at the ${name} ${offset} is the page before it: the provider does not read ${name}.`;
      throw coded(new Error(message), 'pages_repeat');
    }
    before = text;
    yield rows;
    if (limit !== undefined && rows.length < limit) return;
    await settings.on_page?.({ nextPageParam: offset, response });
    offset += settings.offset_calculation_method === 'per-page' ? 1 : rows.length;
  }
}

async function* byLink(settings: Settings, first: Config, request: Request) {
  const refuseCircle = circleGuard('link');
  let config = first;
  let before: string | undefined;
  let relativeTo: string | undefined;
  for (;;) {
    throwIfAborted();
    const { response, requestUrl } = await request(config, relativeTo);
    // An API may leave an empty list out.
    yield (rowsOf(response, settings) ?? []) as unknown[];
    const link = linkOf(response, settings);
    await settings.on_page?.({ nextPageParam: link, response });
    // The last page of some providers links to itself.
    if (link === undefined || link === before) return;
    refuseCircle(link);
    before = link;
    config = follow(config, link);
    relativeTo = isAbsolute.test(link) ? undefined : requestUrl;
  }
}

const isAbsolute = /^https?:\/\/[^/?#]+/i;

/** An absolute link has its own base, and already contains the parameters of the first page. It is no template. */
function follow(config: Config, link: string): Config {
  const { params: _, ...rest } = config;
  const plain = link.replaceAll('${', '$%7B');
  const [origin] = isAbsolute.exec(plain) ?? [];
  if (origin === undefined) return { ...rest, endpoint: plain };
  return { ...rest, baseUrlOverride: origin, endpoint: plain.slice(origin.length) || '/' };
}

/** In a body text, or an object with the text as its `href`. */
function linkOf(response: Response, settings: Settings): string | undefined {
  const { link_rel_in_response_header: rel, link_path_in_response_body: path = '' } = settings;
  const found = rel
    ? linkTarget(String(response.headers['link'] ?? ''), rel)
    : valueAt(response.data, path);
  const link = isRecord(found) ? valueAt(found, 'href') : found;
  return typeof link === 'string' ? link.trim() || undefined : undefined;
}

function check(merged: object): Settings {
  const settings = merged as Partial<Settings>;
  const { type } = settings;
  if (type === undefined) {
    throw new Error(
      'There was no pagination configuration for this integration or configuration passed in.',
    );
  }
  const missing = (name: string) => new Error(`The pagination of type ${type} needs ${name}.`);
  const { limit, limit_name_in_request: limitName } = settings;
  if (type === 'cursor') {
    if (!settings.cursor_name_in_request) throw missing('cursor_name_in_request');
    if (!settings.cursor_path_in_response) throw missing('cursor_path_in_response');
    if (limit && !limitName) throw missing('limit_name_in_request');
  } else if (type === 'offset') {
    if (!settings.offset_name_in_request) throw missing('offset_name_in_request');
  } else if ((type as unknown) === 'link') {
    const hasLink = settings.link_rel_in_response_header || settings.link_path_in_response_body;
    if (!hasLink) throw missing('link_rel_in_response_header or link_path_in_response_body');
  } else {
    throw new Error(`The pagination type ${toText(type)} is not one of cursor, link, offset.`);
  }
  return settings as Settings;
}

/** In a body, a dotted name denotes nested objects; the caller's data is never changed. */
function place(config: Config, values: Values, inBody: boolean): Config {
  if (Object.keys(values).length === 0) return config;
  if (!inBody) return { ...config, params: queryWith(config['params'], values) };
  const input = config['data'];
  let data = (typeof input === 'object' && input !== null ? input : {}) as JsonObject;
  for (const [name, value] of Object.entries(values))
    data = withValue(data, name.split('.'), value);
  return { ...config, data };
}

function queryWith(params: unknown, values: Values): unknown {
  if (params instanceof URLSearchParams) {
    const query = new URLSearchParams(params);
    for (const [name, value] of Object.entries(values)) query.set(name, String(value));
    return query;
  }
  if (typeof params !== 'string') return { ...(params as object | undefined), ...values };
  const added = Object.entries(values).map(([name, value]) => {
    return `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`;
  });
  return [params, ...added].filter((text) => text !== '').join('&');
}

function withValue(data: JsonObject, path: readonly string[], value: unknown): JsonObject {
  const [name = '', ...rest] = path;
  if (rest.length === 0) return { ...data, [name]: value as Json };
  const inner = Object.hasOwn(data, name) ? data[name] : undefined;
  return { ...data, [name]: withValue(isRecord(inner) ? (inner as JsonObject) : {}, rest, value) };
}

function rowsOf(response: Response, settings: Settings): unknown {
  return settings.response_path ? valueAt(response.data, settings.response_path) : response.data;
}

const isRecord = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const hasRows = (rows: unknown): rows is unknown[] => Array.isArray(rows) && rows.length > 0;

/** The value at a dotted path of own properties; a name may itself contain dots, as `@odata.nextLink` does. */
function valueAt(value: unknown, path: string): unknown {
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, path)) {
    return (value as Record<string, unknown>)[path];
  }
  return path.split('.').reduce<unknown>((inner, name) => {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, name))
      return undefined;
    return (inner as Record<string, unknown>)[name];
  }, value);
}

const blanks = ' \t';

/**
 * The target of the first link that has the relation, in whatever case (RFC 8288, appendix B). Commas and semicolons
 * inside `<>` and quotes are text; a parameter may have no value; of several `rel` of a link the first counts. A link with
 * `results="false"` is none: Sentry sends it behind the last page.
 */
export function linkTarget(header: string, relation: string): string | undefined {
  const wanted = relation.toLowerCase();
  let at = 0;
  const skip = (marks: string) => {
    while (at < header.length && marks.includes(header.charAt(at))) at++;
  };
  const takeUntil = (marks: string): string => {
    const start = at;
    while (at < header.length && !marks.includes(header.charAt(at))) at++;
    return header.slice(start, at);
  };
  const takeQuoted = (): string => {
    let text = '';
    for (at++; at < header.length && header.charAt(at) !== '"'; at++) {
      if (header.charAt(at) === '\\' && at + 1 < header.length) at++;
      text += header.charAt(at);
    }
    at++;
    return text;
  };
  /** Text after a quoted value belongs to no parameter. */
  const takeValue = (): string => {
    if (header.charAt(at) !== '=') return '';
    at++;
    skip(blanks);
    if (header.charAt(at) !== '"') return takeUntil(';,').trim();
    const text = takeQuoted();
    takeUntil(';,');
    return text;
  };
  while (at < header.length) {
    skip(`${blanks},`);
    if (header.charAt(at) !== '<') {
      takeUntil(',');
      continue;
    }
    at++;
    const target = takeUntil('>').trim();
    at++;
    takeUntil(';,');
    let relations: string | undefined;
    while (header.charAt(at) === ';') {
      at++;
      skip(blanks);
      const name = takeUntil('=;,').trim().toLowerCase();
      const value = takeValue();
      if (name === 'rel') relations ??= value;
      if (name === 'results' && value === 'false') relations = '';
    }
    if (relations?.toLowerCase().split(/\s+/).includes(wanted)) return target;
  }
  return undefined;
}
