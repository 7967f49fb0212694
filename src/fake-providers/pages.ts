import { atPath, plainText } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { PaginateDefinition } from '#modules/connections/providers/definition.ts';
import { demand, type Answer, type ReceivedRequest } from './exchange.ts';
import { withPath } from './with-path.ts';

/** Rows that `rows` of the API lists, in pages of three. */
export const rows: readonly JsonObject[] = Array.from({ length: 7 }, (_, at) => ({ id: at + 1 }));
const pageSize = 3;

/**
 * One page of the rows, the next one named as the definition says: below `response_path`, else below `rows`
 * where the answer also names the next page, else as the whole body.
 */
export function pageOf(paginate: PaginateDefinition, request: ReceivedRequest): Answer {
  const asked = (name: string | undefined) =>
    name === undefined ? null : sentValue(request, name, paginate.in_body === true);
  const { limit, limit_name_in_request: limitName } = paginate;
  if (limitName !== undefined && paginate.type !== 'link') {
    const wanted = limit ?? pageSize;
    demand(asked(limitName) === String(wanted), `wrong_limit: ${limitName}`);
  }
  const headers: Record<string, string> = {};
  const content: Record<string, unknown> = {};
  let from = 0;
  if (paginate.type === 'offset') {
    const start = paginate.offset_start_value ?? 0;
    const sent = asked(paginate.offset_name_in_request) ?? '';
    demand(/^\d+$/.test(sent), `no_offset: ${String(paginate.offset_name_in_request)}`);
    const offset = Number(sent) - start;
    from = paginate.offset_calculation_method === 'per-page' ? offset * pageSize : offset;
  } else if (paginate.type === 'cursor') {
    from = Number((asked(paginate.cursor_name_in_request) ?? 'after-0').replace('after-', ''));
    const next = from + pageSize < rows.length ? `after-${from + pageSize}` : '';
    withPath(content, paginate.cursor_path_in_response ?? '', next);
  } else {
    from = Number(request.url.searchParams.get('from') ?? 0);
    const next = new URL(request.url);
    next.searchParams.set('from', String(from + pageSize));
    const hasNext = from + pageSize < rows.length;
    const { link_rel_in_response_header: rel, link_path_in_response_body: path } = paginate;
    if (hasNext && rel !== undefined) headers['link'] = `<${next.href}>; rel="${rel}"`;
    if (hasNext && path !== undefined) withPath(content, path, next.href);
  }
  const page = rows.slice(from, from + pageSize);
  const isInBody = paginate.type === 'cursor' || paginate.link_path_in_response_body !== undefined;
  const path = paginate.response_path ?? (isInBody ? 'rows' : '');
  if (path === '') return { status: 200, headers, body: page };
  withPath(content, path, page);
  return { status: 200, headers, body: content as JsonObject };
}

/** A parameter of the query, or of the JSON body, where it may be nested. */
function sentValue({ url, body }: ReceivedRequest, name: string, isInBody: boolean): string | null {
  if (!isInBody) return url.searchParams.get(name);
  const found = body === '' ? undefined : atPath(JSON.parse(body) as JsonObject, name);
  return found === undefined ? null : plainText(found);
}
