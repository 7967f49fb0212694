import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { RouteAnswer } from './define-route.ts';
import { codingFor } from './negotiate.ts';

const [br, deflated] = [promisify(brotliCompress), promisify(gzip)];

/** Fast levels: a higher one costs more time than the network saves. */
const compressors = {
  br: (body: Uint8Array) => br(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
  gzip: (body: Uint8Array) => deflated(body, { level: 1 }),
} as const;
const codings = ['br', 'gzip'] as const;

/** Most polls answer less; compression would only delay them. */
const bytesMin = 16 * 1024;

const compressible = /^(application\/json|text\/(html|plain|css|javascript))/;

/** A body that is sent repeatedly, such as the OpenAPI document, is compressed once. */
const compressed = new WeakMap<Uint8Array, Map<string, Promise<Buffer>>>();

/**
 * The response in a content encoding that the client accepts. One with secrets (`Cache-Control: no-store`) is not
 * compressed: its length would depend on whether the secret resembles what a request put beside it (BREACH).
 * @param accepted the header `Accept-Encoding`
 */
export async function encodedAnswer(
  answer: RouteAnswer,
  accepted: string | undefined,
): Promise<RouteAnswer> {
  const { headers = {} } = answer;
  if (answer.body === undefined || headers['cache-control']?.includes('no-store') === true) {
    return answer;
  }
  const type = headers['content-type'] ?? 'application/json';
  if ('content-encoding' in headers || !compressible.test(type)) return answer;
  const body = answer.body instanceof Uint8Array ? answer.body : JSON.stringify(answer.body);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes.length < bytesMin) return { ...answer, body: bytes };
  const coding = codingFor(accepted, codings);
  const varying = { ...headers, vary: 'accept-encoding' };
  if (coding === null) return { ...answer, body: bytes, headers: varying };
  return {
    ...answer,
    body: await compressedOnce(bytes, coding),
    headers: { ...varying, 'content-encoding': coding },
  };
}

function compressedOnce(bytes: Uint8Array, coding: (typeof codings)[number]): Promise<Buffer> {
  const made = compressed.get(bytes) ?? new Map<string, Promise<Buffer>>();
  compressed.set(bytes, made);
  const existing = made.get(coding) ?? compressors[coding](bytes);
  made.set(coding, existing);
  return existing;
}
