import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { draft2020 } from './json-schema.ts';

/** An answer of a gateway as a test saw it. */
interface SeenAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The whole body. */
  readonly text: string;
}

interface Media {
  readonly schema?: object;
}
interface NamedResponse {
  readonly $ref?: string;
  readonly 'x-svc-error-codes'?: readonly string[];
  readonly content?: Readonly<Record<string, Media>>;
}
interface Operation {
  readonly responses: Readonly<Record<string, NamedResponse>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, NamedResponse>> };
}

interface Known {
  readonly document: Document;
  readonly ajv: Ajv2020;
  /** By the schema in the document: operations share their refusals. */
  readonly validators: Map<object, ValidateFunction>;
}

let known: Known | null = null;
const noted = new Set<string>();

/** Holds an answer against the OpenAPI document, and notes for the whole run that it was seen. */
export function checkAnswer(method: string, url: string, seen: SeenAnswer): void {
  const endpoint = holdAnswer(method, url, seen);
  if (endpoint === null) return;
  note(endpoint, seen);
  if (!endpoint.startsWith('GET ')) return;
  readAt = Date.now();
  unread.clear();
}

/**
 * Holds an answer against the OpenAPI document: what that does not name, or names otherwise, is an error. For answers
 * to random requests, of which another run may see none.
 * @returns the endpoint, null for what the document does not list
 */
export function holdAnswer(method: string, url: string, seen: SeenAnswer): string | null {
  const file = process.env['SVC_TEST_OPENAPI'];
  // Outside the test runner there is nothing to hold it against.
  if (file === undefined) return null;
  known ??= load(file);
  const asked = method === 'HEAD' ? 'GET' : method;
  const path = new URL(url, 'http://gateway.test').pathname;
  const template = templateOf(known.document, path, asked);
  if (template === null) return null;
  const operation = known.document.paths[template]?.[asked.toLowerCase()];
  if (operation === undefined) return null;
  const endpoint = `${asked} ${template}`;
  const problem = problemOf(known, operation, seen, method === 'HEAD');
  if (problem !== null) {
    throw new Error(
      `${endpoint} answered ${seen.status} ${seen.text.slice(0, 2000)}\nbut ${problem}`,
    );
  }
  return endpoint;
}

/** First word of the line of an operation that the console sent. */
export const ofConsole = 'console ';

/**
 * Notes for the whole run that the gateway carried out a change that the console sent.
 * @param sentAt when the browser sent it, in ms. A test may have read its effect before the browser says that it was
 *   answered.
 */
export function noteChange(method: string, url: string, sentAt: number): void {
  const file = process.env['SVC_TEST_OPENAPI'];
  if (file === undefined) return;
  known ??= load(file);
  const template = templateOf(known.document, new URL(url).pathname, method);
  if (template === null) return;
  noteLine(`${ofConsole}${method} ${template}`);
  if (!shownElsewhere.has(template) && readAt < sentAt) unread.add(`${method} ${template}`);
}

/** Sessions are of the browser alone, a test arrives at its receiver, and two are queries. */
const shownElsewhere: ReadonlySet<string> = new Set([
  '/console/session',
  '/console/session/keys/{keyId}',
  '/alert-destinations/{id}/test',
  '/logs/operations',
  '/sql',
]);

const unread = new Set<string>();
/** When a test last got an answer to what it read, in ms. */
let readAt = 0;

/** Changes that the console sent, since a test read anything through the API; forgets them. */
export function takeUnread(): readonly string[] {
  const all = [...unread];
  unread.clear();
  return all;
}

/** First word of the line of a place in the console's sources. */
export const ofSite = 'site ';

/** Notes for the whole run that a browser ran this place, which changes something. */
export const noteSite = (name: string): void => noteLine(ofSite + name);

/** Whether notes for a whole run are kept. */
export const isNoting = (): boolean => process.env['SVC_TEST_ANSWERS'] !== undefined;

/** `fetch`, whose answer is held against the document; for bodies that end. */
export async function checkedFetch(url: string, init: RequestInit = {}): Promise<Response> {
  const answer = await fetch(url, init);
  const { status, headers } = answer;
  checkAnswer(init.method ?? 'GET', url, { status, headers, text: await answer.clone().text() });
  return answer;
}

function load(file: string): Known {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Document;
  const ajv = draft2020();
  ajv.addSchema(document, 'openapi');
  return { document, ajv, validators: new Map() };
}

/** The template with the most literal segments, as the router has it; null where no path fits. */
function templateOf(document: Document, path: string, method: string): string | null {
  if (path.startsWith('/proxy/')) return '/proxy/{path}';
  const segments = path.split('/');
  const fitting = Object.keys(document.paths).filter((template) => {
    const parts = template.split('/');
    const isSame = parts.every((part, at) => part === segments[at] || part.startsWith('{'));
    return isSame && parts.length === segments.length && !segments.slice(1).includes('')
      ? document.paths[template]?.[method.toLowerCase()] !== undefined
      : template === path;
  });
  const parameters = (template: string) => template.split('{').length;
  return fitting.sort((a, b) => parameters(a) - parameters(b))[0] ?? null;
}

function problemOf(
  { document, ajv, validators }: Known,
  { responses }: Operation,
  { status, headers, text }: SeenAnswer,
  isHead: boolean,
): string | null {
  const named = responses[String(status)];
  if (named === undefined) {
    return 'default' in responses ? null : 'the document does not name this status';
  }
  const { content, 'x-svc-error-codes': codes } = referred(document, named);
  const [type = ''] = (headers.get('content-type') ?? '').split(';', 1);
  if (content === undefined) return text === '' ? null : 'the document names no body';
  const media = content['*/*'] ?? content[type];
  if (media === undefined) return `the document names ${Object.keys(content).join(', ')}`;
  if (type !== 'application/json' || media.schema === undefined || isHead) return null;
  const validate = validators.get(media.schema) ?? ajv.compile(atHome(media.schema));
  validators.set(media.schema, validate);
  const body = JSON.parse(text) as unknown;
  // Of a file of any type, the schema is that of a text.
  const isFile = '*/*' in content && status < 400;
  if (!isFile && !validate(body)) return ajv.errorsText(validate.errors);
  // A success may report the error of something else, such as a failed deployment.
  return status < 400 ? null : unnamedCode(body, codes ?? []);
}

/** Codes of JSON-RPC are numbers. */
function unnamedCode(body: unknown, codes: readonly string[]): string | null {
  const code = (body as { error?: { code?: unknown } } | null)?.error?.code;
  return typeof code !== 'string' || codes.includes(code)
    ? null
    : `the document names the codes ${codes.join(', ')}`;
}

function referred(
  document: Document,
  { $ref: reference, ...response }: NamedResponse,
): NamedResponse {
  if (reference === undefined) return response;
  return document.components.responses[reference.slice(reference.lastIndexOf('/') + 1)] ?? {};
}

/** References within the document become references to it. */
const atHome = (schema: object): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi#/')) as object;

const note = (endpoint: string, { status, headers, text }: SeenAnswer): void =>
  noteLine(`${endpoint}\t${status}\t${codeIn(headers, text)}`);

function noteLine(line: string): void {
  const folder = process.env['SVC_TEST_ANSWERS'];
  if (folder === undefined || noted.has(line)) return;
  noted.add(line);
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${process.pid}.tsv`), `${line}\n`);
}

function codeIn(headers: Headers, text: string): string {
  const ofPage = /<p class="muted">(\w+)<\/p>/.exec(text)?.[1];
  if (ofPage !== undefined && (headers.get('content-type') ?? '').includes('html')) return ofPage;
  if (!(headers.get('content-type') ?? '').includes('json') || text === '') return '';
  const body = JSON.parse(text) as { error?: { code?: string }; error_type?: string } | null;
  return body?.error?.code ?? body?.error_type ?? '';
}
