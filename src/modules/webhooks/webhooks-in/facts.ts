import { Busboy } from '@fastify/busboy';
import { bodyText, formFields } from '#kernel/body-text.ts';
import { GatewayError } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { atPath, plainText } from '#kernel/json-path.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import { partOf } from '#modules/connections/providers/value-part.ts';
import type {
  Condition,
  Source,
  WebhookRules,
} from '#modules/connections/providers/webhook-rules.ts';
import type { KeptRequest } from './events.ts';

/** A received webhook. */
export interface IncomingRequest extends KeptRequest {
  /** The exact bytes, which are signed. */
  readonly bytes: Buffer;
}

/** A webhook with its id in the log. */
export interface ReceivedWebhook {
  readonly id: string;
  readonly receivedAt: Instant;
  readonly request: IncomingRequest;
}

/** What the rules of a provider read in a request, or in one event of it. */
export interface WebhookFacts {
  readonly headers: IncomingRequest['headers'];
  readonly query: URLSearchParams;
  readonly body: Json;
}

/** Maximum nesting of lists and objects in a body. */
const depthMax = 64;

/** @throws GatewayError `webhook_invalid_payload` */
export async function readFacts(
  request: IncomingRequest,
  rules: WebhookRules,
): Promise<WebhookFacts> {
  const { headers, search } = request;
  return { headers, query: new URLSearchParams(search), body: await readBody(request, rules) };
}

/** The body as the provider sends it: JSON, a form (also multipart), or text. */
async function readBody({ headers, bytes }: IncomingRequest, rules: WebhookRules): Promise<Json> {
  const type = headers['content-type'] ?? '';
  if (rules.body_of_headers) return forwardedHeaders(headers);
  if (/^\s*multipart\//i.test(type) && bytes.length > 0) {
    return formBody(await readMultipart(bytes, type), rules);
  }
  const text = bodyText(bytes, type);
  if (text === '') return {};
  if (/urlencoded/i.test(type)) return formBody([...new URLSearchParams(text)], rules);
  if (/xml|text\/plain/i.test(type) && !/^\s*[[{]/.test(text)) return text;
  return parsed(text);
}

/** The JSON in the field of the rules, or every field. */
function formBody(
  fields: readonly (readonly [string, string | JsonObject])[],
  { form_field: name }: WebhookRules,
): Json {
  const field = name === undefined ? undefined : fields.find(([found]) => found === name)?.[1];
  return typeof field === 'string' ? parsed(field) : formFields(fields);
}

function parsed(text: string): Json {
  try {
    const value = parseRawJson(text) as Json;
    if (depthOf(value) <= depthMax) return value;
  } catch (cause) {
    const message = 'The body of the webhook is not JSON.';
    throw new GatewayError('webhook_invalid_payload', { message }, { cause });
  }
  const message = `The body of the webhook is nested deeper than ${depthMax} levels.`;
  throw new GatewayError('webhook_invalid_payload', { message });
}

/** Iterative, because it guards against deep nesting. */
function depthOf(value: Json): number {
  let depth = 0;
  for (let level: unknown[] = [value]; level.length > 0 && depth <= depthMax; depth += 1) {
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? (Object.values(item) as unknown[]) : [],
    );
  }
  return depth;
}

/** The first available value, as text. */
export function valueOf(from: WebhookFacts, sources: readonly Source[]): string | null {
  for (const source of sources) {
    const value = valueAt(from, source);
    if (value !== null && value !== '') return value;
  }
  return null;
}

export function valueAt({ headers, query, body }: WebhookFacts, source: Source): string | null {
  if (source.value !== undefined) return source.value;
  const found =
    source.header === undefined
      ? source.query === undefined
        ? textIn(body, source.body ?? '')
        : query.get(source.query)
      : (headers[source.header] ?? null);
  const value =
    found === null || source.decoded === undefined ? found : within(found, source.decoded);
  return value === null ? null : partOf(value, source.take);
}

/** The value at the path in base64-encoded JSON; null for invalid input. */
function within(base64: string, path: string): string | null {
  try {
    return textIn(parseRawJson(Buffer.from(base64, 'base64').toString()) as Json, path);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function textIn(body: Json, path: string): string | null {
  const value = isJsonObject(body) || Array.isArray(body) ? atPath(body, path) : undefined;
  return value === undefined || value === null ? null : plainText(value);
}

export function holds(from: WebhookFacts, condition: Condition): boolean {
  const value = valueAt(from, condition);
  return value !== null && (condition.equals === undefined || condition.equals === value);
}

type Field = readonly [name: string, value: string | JsonObject];

/**
 * The parts of a multipart body (RFC 7578) in order: text, or a file with its bytes in base64.
 * @throws GatewayError `webhook_invalid_payload`
 */
function readMultipart(bytes: Buffer, contentType: string): Promise<readonly Field[]> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) => {
      const message =
        'The body of the webhook is not multipart/form-data with the boundary of its content type.';
      reject(new GatewayError('webhook_invalid_payload', { message }, { cause }));
    };
    try {
      const size = bytes.length;
      const parser = Busboy({
        headers: { 'content-type': contentType },
        preservePath: true,
        limits: { fieldSize: size, fileSize: size, fieldNameSize: size },
      });
      const fields: Field[] = [];
      parser.on('field', (name, value) => fields.push([name, value]));
      parser.on('file', (name, stream, filename, _encoding, type) => {
        const chunks: Buffer[] = [];
        const at = fields.push([name, '']) - 1;
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const base64 = Buffer.concat(chunks).toString('base64');
          fields[at] = [name, { filename, content_type: type, base64 }];
        });
      });
      parser.on('finish', () => resolve(fields));
      parser.on('error', fail);
      parser.end(bytes);
    } catch (error) {
      fail(error);
    }
  });
}

/** Prefixes of provider headers that are not forwarded (docs/reference/webhooks-out.md#forward). */
const notForwarded = [
  'host',
  'authorization',
  'connection',
  'keep-alive',
  'content-length',
  'content-type',
  'content-encoding',
  'cookie',
  'set-cookie',
  'referer',
  'user-agent',
  'sec-',
  'proxy-',
  'www-authenticate',
  'server',
  'transfer-encoding',
];

/** The headers that are forwarded to the application. */
export function forwardedHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !notForwarded.some((start) => name.startsWith(start)),
    ),
  );
}
