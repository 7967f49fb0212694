import { atPath, plainText } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { patternOf } from '#modules/connections/providers/pattern.ts';
import { demand, type Answer, type ReceivedRequest } from '../exchange.ts';
import { withPath } from '../with-path.ts';
import type { Dataset, Entry } from './dataset.ts';
import type { ListRules, Pagination } from './fixture.ts';
import type { SentParameters } from './parameters.ts';
import { hasFormat, timeOf } from './times.ts';

/** A page of a list: what was asked for, and what was sent. */
export interface ListedPage {
  readonly answer: Answer;
  readonly documents: readonly JsonObject[];
  /** Whether the request begins the list. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Whether the request asked only for what has changed: the list is shorter than without its filter. */
  readonly isIncremental: boolean;
}

interface PageRequest {
  readonly rules: ListRules;
  readonly dataset: Dataset;
  readonly request: ReceivedRequest;
  readonly sent: SentParameters;
  /** Values of the `{name}` of the endpoint. */
  readonly parents: Readonly<Record<string, string>>;
  /** At most as many documents, whatever the request asks for; null: as many as it asks for. */
  readonly pageMax: number | null;
  /** The page after the first is empty, where the API may do that. */
  readonly insertsEmptyPage: boolean;
}

/** Position of a page: row, and the version after which changes are listed (0: everything). */
interface Position {
  readonly row: number;
  readonly since: number;
  /** Already behind the empty page. */
  readonly isBehindEmpty: boolean;
}

/** @throws Refusal where the request is not as the documentation has it */
export function listPage(page: PageRequest): ListedPage {
  const { rules } = page;
  const size = sizeOf(page);
  const begin = positionOf(page, size);
  const since = filterTime(page);
  const rows = ordered(page, selected(page, begin, since));
  const position = { ...begin, row: firstRow(page, begin, rows, size) };
  const end = position.row + size;
  const mayBeEmpty = 'has_empty_pages' in rules.pagination && rules.pagination.has_empty_pages;
  const isEmpty =
    page.insertsEmptyPage && mayBeEmpty && position.row > 0 && !position.isBehindEmpty;
  const documents = isEmpty ? [] : rows.slice(position.row, end).map((row) => listed(page, row));
  const isLast = !isEmpty && end >= rows.length;
  const next = { row: isEmpty ? position.row : end, since: position.since, isBehindEmpty: isEmpty };
  return {
    answer: answerOf(page, { documents, isLast, next, count: rows.length }),
    documents,
    isFirst: position.row === 0,
    isLast,
    isIncremental: rows.length < selected(page, { ...begin, since: 0 }, null).length,
  };
}

const defaultSize = 100;

function sizeOf({ rules, sent, pageMax }: PageRequest): number {
  const { limit } = rules;
  const text = limit === undefined ? null : foundText(sent, limit);
  const asked = text === null ? (limit?.max ?? defaultSize) : Number(text);
  demand(Number.isInteger(asked) && asked > 0, `wrong_limit: ${String(text)}`);
  demand(asked <= (limit?.max ?? asked), `limit_too_large: ${asked}`);
  // An offset that counts rows or pages is right only with the size that was asked for.
  if (rules.pagination.type === 'none') return Infinity;
  return rules.pagination.type === 'offset' ? asked : Math.min(asked, pageMax ?? asked);
}

function positionOf({ rules, sent }: PageRequest, size: number): Position {
  const { pagination, delta } = rules;
  const value = delta === undefined ? null : sent.text(delta.name);
  const token = value === delta?.start ? null : value;
  // A token and a cursor may come in the same parameter.
  const isCursor = 'name' in pagination && pagination.name === delta?.name && !isToken(token);
  const since = token === null || isCursor ? 0 : versionOf(token);
  const first = { row: 0, since, isBehindEmpty: false };
  if (pagination.type === 'none') return first;
  const text = foundText(sent, pagination);
  if (text === null || text === '' || (since > 0 && text === token)) return first;
  if (pagination.type === 'offset') {
    demand(/^\d+$/.test(text), `wrong_offset: ${text}`);
    const count = Number(text) - pagination.start;
    demand(count >= 0, `wrong_offset: ${text}`);
    return { ...first, row: pagination.counts === 'pages' ? count * size : count };
  }
  // A cursor that is an id is looked up among the rows.
  const isId = pagination.type === 'cursor' && pagination.path === undefined;
  return isId ? first : cursorPosition(text);
}

function firstRow(
  page: PageRequest,
  { row }: Position,
  rows: readonly JsonObject[],
  size: number,
): number {
  const { pagination } = page.rules;
  const repeats = pagination.type === 'offset' && pagination.repeats_last;
  if (repeats && row >= rows.length) return Math.max(0, Math.ceil(rows.length / size) - 1) * size;
  return row + rowsUpToCursor(page, rows);
}

/** How many rows come before the page of a cursor that is the id of a document. */
function rowsUpToCursor(
  { rules, sent, dataset }: PageRequest,
  rows: readonly JsonObject[],
): number {
  const { pagination } = rules;
  if (pagination.type !== 'cursor' || pagination.path !== undefined) return 0;
  const text = sent.text(pagination.name);
  const pattern = pagination.pattern === undefined ? null : patternOf(pagination.pattern);
  const id = pattern === null ? text : pattern.exec(text ?? '')?.[1];
  if (id === undefined || id === null || id === '') return 0;
  const ids = rows.map((document) => dataset.idOf(document));
  demand(ids.includes(id), `unknown_cursor: ${id}`);
  return ids.indexOf(id) + 1;
}

/** A parameter, or the part of it that the pattern finds; null: it is not sent, or the API has none. */
function foundText(
  sent: SentParameters,
  { name, pattern }: { name?: string | undefined; pattern?: string | undefined },
): string | null {
  const text = name === undefined ? null : sent.text(name);
  if (pattern === undefined || text === null) return text;
  return patternOf(pattern).exec(text)?.[1] ?? null;
}

const cursorText = ({ row, since, isBehindEmpty }: Position): string =>
  `s${since}r${row}${isBehindEmpty ? 'e' : ''}`;

function cursorPosition(text: string): Position {
  const match = /^s(\d+)r(\d+)(e?)$/.exec(text);
  demand(match !== null, `unknown_cursor: ${text}`);
  const [, since, row, empty] = match;
  return { since: Number(since), row: Number(row), isBehindEmpty: empty === 'e' };
}

/** A token that lists what changes after the version. */
export const tokenText = (version: number): string => `v${version}`;

const isToken = (text: string | null): boolean => text !== null && /^v\d+$/.test(text);

function versionOf(token: string): number {
  const match = /^v(\d+)$/.exec(token);
  demand(match !== null, `unknown_token: ${token}`);
  return Number(match[1]);
}

/** Null without the parameter. */
function filterTime({ rules: { filter }, sent, request }: PageRequest): number | null {
  if (filter === undefined) return null;
  const { name, in_header: isInHeader } = filter;
  const header = request.headers[name.toLowerCase()];
  const text = isInHeader ? (header === undefined ? null : String(header)) : sent.text(name);
  if (text === null) return null;
  const pattern = filter.pattern === undefined ? null : patternOf(filter.pattern);
  const value = pattern === null ? text : pattern.exec(text)?.[1];
  // An expression may have no such part.
  if (value === undefined) return null;
  demand(hasFormat(value, filter.format), `wrong_time: ${filter.name}=${value}`);
  return timeOf(value);
}

function selected(
  { rules, dataset, parents }: PageRequest,
  position: Position,
  since: number | null,
): readonly Entry[] {
  const { filter, shows } = rules;
  return dataset.entries.filter(({ document, version, isDeleted }) => {
    if (shows === 'present' && isDeleted) return false;
    if (shows === 'deleted' && !isDeleted) return false;
    // Changes alone show what was deleted.
    if (position.since === 0 && isDeleted && rules.delta !== undefined) return false;
    if (version <= position.since) return false;
    const isOfParent = Object.entries(parents).every(([name, value]) => {
      const own = document[`$${name}`] ?? document[name];
      return own === undefined || plainText(own) === value;
    });
    if (!isOfParent) return false;
    if (since === null || filter === undefined) return true;
    const time = timeOf(atPath(document, filter.field));
    return filter.comparison === '>' ? time > since : time >= since;
  });
}

function ordered({ rules, sent }: PageRequest, entries: readonly Entry[]): JsonObject[] {
  const documents = entries.map(({ document }) => document);
  const order = rules.orders.find(({ params }) => sent.has(params));
  if (order === undefined) return documents;
  const sign = order.is_descending ? -1 : 1;
  const keyOf = (document: JsonObject): number => {
    const value = atPath(document, order.field);
    const time = timeOf(value);
    return Number.isNaN(time) ? Number(value) : time;
  };
  return documents.sort((one, other) => sign * (keyOf(one) - keyOf(other)));
}

function listed({ rules: { entry }, dataset }: PageRequest, document: JsonObject): JsonObject {
  if (entry === undefined) return withoutHidden(document);
  const id = dataset.idOf(document);
  return dataset.find(id)?.isDeleted === true
    ? { ...entry.deleted, [entry.id]: id }
    : { ...entry.present, [entry.id]: id, [entry.document]: withoutHidden(document) };
}

const withoutHidden = (document: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(document).filter(([name]) => !name.startsWith('$')));

interface PageContent {
  readonly documents: readonly JsonObject[];
  readonly isLast: boolean;
  readonly next: Position;
  readonly count: number;
}

function answerOf(page: PageRequest, content: PageContent): Answer {
  const { rules, dataset } = page;
  const { documents, isLast } = content;
  const headers: Record<string, string> = {};
  const body = structuredClone(rules.body) as Record<string, unknown>;
  if (rules.documents !== '') withPath(body, rules.documents, documents);
  placeNext(page, content, { headers, body });
  const { delta } = rules;
  if (delta !== undefined && isLast) {
    const token = tokenText(dataset.version);
    const value = delta.is_link ? addressWith(page, { [delta.name]: token }) : token;
    withPath(body, delta.path, value);
  }
  const isList = rules.documents === '';
  return { status: 200, headers, body: isList ? documents : (body as JsonObject) };
}

interface OpenAnswer {
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

function placeNext(
  page: PageRequest,
  { isLast, next, count }: PageContent,
  { headers, body }: OpenAnswer,
): void {
  const { pagination } = page.rules;
  if (pagination.type === 'none') return;
  if ('last' in pagination && pagination.last !== undefined) {
    const { path, value } = pagination.last;
    withPath(body, path, isLast ? value : !value);
  }
  if (pagination.type === 'offset') {
    if (pagination.total !== undefined) withPath(body, pagination.total, count);
  } else if (pagination.type === 'cursor') {
    if (pagination.path !== undefined) placeCursor(page, { isLast, next }, pagination, body);
  } else {
    const address = addressWith(page, { [pagination.name]: cursorText(next) });
    const { rel, has_results: hasResults } = pagination;
    if (rel !== undefined && (!isLast || hasResults)) {
      const results = hasResults ? `; results="${isLast ? 'false' : 'true'}"` : '';
      headers['link'] = `<${address}>; rel="${rel}"${results}`;
    }
    if (pagination.path === undefined) return;
    const relative = address.slice(new URL(address).origin.length);
    const target = pagination.is_relative ? relative : address;
    if (isLast) placeEnd(body, pagination.path, pagination.end);
    else withPath(body, pagination.path, target);
  }
}

function placeCursor(
  { dataset }: PageRequest,
  { isLast, next }: Pick<PageContent, 'isLast' | 'next'>,
  { path = '', end, is_continued: isContinued }: Extract<Pagination, { type: 'cursor' }>,
  body: Record<string, unknown>,
): void {
  const afterwards = { row: 0, since: dataset.version, isBehindEmpty: false };
  if (isLast && !isContinued) placeEnd(body, path, end);
  else withPath(body, path, cursorText(isLast ? afterwards : next));
}

function placeEnd(
  body: Record<string, unknown>,
  path: string,
  end: 'absent' | 'null' | 'empty',
): void {
  if (end !== 'absent') withPath(body, path, end === 'null' ? null : '');
}

/** The address of the request with other parameters; the token of changes is in its pages. */
function addressWith({ request, rules }: PageRequest, params: Readonly<Record<string, string>>) {
  const address = new URL(request.url);
  if (rules.delta !== undefined) address.searchParams.delete(rules.delta.name);
  if ('name' in rules.pagination) address.searchParams.delete(rules.pagination.name);
  for (const [name, value] of Object.entries(params)) address.searchParams.set(name, value);
  return address.href;
}
