import type { JsonObject } from '#kernel/stable-json.ts';
import type { PaginateDefinition } from '#modules/connections/providers/definition.ts';
import { throwIfAborted } from './bridge.ts';
import type { Config, Response } from './http.ts';
import { toText } from './text.ts';
import { URLSearchParams } from './url-search-params.ts';

/** Settings of one call: the provider's, overridden by the caller's (docs/reference/functions.md#pagination). */
interface Settings extends PaginateDefinition {
  readonly type: 'cursor' | 'link' | 'offset';
  readonly on_page?: (page: { nextPageParam: unknown; response: Response }) => unknown;
}

type Request = (config: Config) => Promise<Response>;
type Values = Readonly<Record<string, string | number>>;

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
  const fetchPage = (values: Values): Promise<Response> => {
    throwIfAborted();
    return request(place(base, { ...limits, ...values }, inBody));
  };
  if (settings.type === 'cursor') yield* byCursor(settings, fetchPage);
  else if (settings.type === 'offset') yield* byOffset(settings, fetchPage, inBody);
  else yield* byLink(settings, place(base, limits, inBody), request);
}

async function* byCursor(settings: Settings, request: (values: Values) => Promise<Response>) {
  const { cursor_name_in_request: name = '', cursor_path_in_response: path = '' } = settings;
  let cursor: string | number | undefined;
  for (;;) {
    const response = await request(cursor === undefined ? {} : { [name]: cursor });
    const rows = rowsOf(response, settings);
    if (!hasRows(rows)) return;
    yield rows;
    cursor = cursorOf(valueAt(response.data, path));
    await settings.on_page?.({ nextPageParam: cursor, response });
    if (cursor === undefined) return;
  }
}

/** Zero is a cursor; blank text is none. */
function cursorOf(value: unknown): string | number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

async function* byOffset(
  settings: Settings,
  request: (values: Values) => Promise<Response>,
  inBody: boolean,
) {
  const { offset_name_in_request: name = '', limit } = settings;
  let offset = settings.offset_start_value ?? 0;
  for (;;) {
    const response = await request({ [name]: inBody ? offset : String(offset) });
    const rows = rowsOf(response, settings);
    if (!hasRows(rows)) return;
    yield rows;
    if (limit !== undefined && rows.length < limit) return;
    await settings.on_page?.({ nextPageParam: offset, response });
    offset += settings.offset_calculation_method === 'per-page' ? 1 : rows.length;
  }
}

async function* byLink(settings: Settings, first: Config, request: Request) {
  let config = first;
  let before: string | undefined;
  for (;;) {
    throwIfAborted();
    const response = await request(config);
    yield rowsOf(response, settings) as unknown[];
    const link = linkOf(response, settings);
    await settings.on_page?.({ nextPageParam: link, response });
    if (link === undefined || link === before) return;
    before = link;
    config = follow(config, link);
  }
}

/** An absolute link has its own base, and already contains the parameters of the first page. */
function follow(config: Config, link: string): Config {
  const { params: _, ...rest } = config;
  const [origin] = /^https?:\/\/[^/?#]+/i.exec(link) ?? [];
  if (origin === undefined) return { ...rest, endpoint: link };
  return { ...rest, baseUrlOverride: origin, endpoint: link.slice(origin.length) || '/' };
}

function linkOf(response: Response, settings: Settings): string | undefined {
  const { link_rel_in_response_header: rel, link_path_in_response_body: path } = settings;
  if (rel) return headerLink(response.headers['link'] ?? '', rel);
  const link = valueAt(response.data, path ?? '');
  return typeof link === 'string' && link.trim() !== '' ? link : undefined;
}

/** The target of the first link with the relation (RFC 8288). */
function headerLink(header: string, rel: string): string | undefined {
  for (const [, target, params] of header.matchAll(/<([^<>]*)>((?:[^,<"]|"[^"]*")*)/g)) {
    const found = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]+))/i.exec(params ?? '');
    const relations = (found?.[1] ?? found?.[2] ?? '').split(/\s+/);
    if (relations.includes(rel)) return target;
  }
  return undefined;
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
    return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  });
  return [params, ...added].filter((text) => text !== '').join('&');
}

function withValue(data: JsonObject, path: readonly string[], value: string | number): JsonObject {
  const [name = '', ...rest] = path;
  if (rest.length === 0) return { ...data, [name]: value };
  const inner = Object.hasOwn(data, name) ? data[name] : undefined;
  const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  return { ...data, [name]: withValue(isObject ? (inner as JsonObject) : {}, rest, value) };
}

function rowsOf(response: Response, settings: Settings): unknown {
  return settings.response_path ? valueAt(response.data, settings.response_path) : response.data;
}

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
