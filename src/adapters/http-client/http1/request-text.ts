import { HttpFailure, type ForwardRequest } from '#ports/http-client.ts';
import { isOwnHeader, token } from './fields.ts';

const methodsWithBody = new Set(['POST', 'PUT', 'PATCH']);
const notInValues = /[^\t\x20-\x7e\x80-\xff]/;
const notInTargets = /[^\x21-\x7e]/;

/** The head of a request and the framing of its body. */
export interface SentHead {
  readonly text: string;
  /** Expected length of the body; null: chunked. */
  readonly bodyBytes: number | null;
}

/**
 * The head of a request. Characters that could end a line are refused.
 * @throws HttpFailure `ERR_INVALID_CHAR`
 */
export function requestHead(request: ForwardRequest): SentHead {
  const { method, url, headers, body } = request;
  const target = `${url.pathname}${url.search}`;
  if (!token.test(method) || notInTargets.test(target)) throw unfit('its method or target');
  let text = `${method} ${target} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n${linesOf(headers)}`;
  const bodyBytes = bytesOf(request);
  if (bodyBytes === null) text += 'transfer-encoding: chunked\r\n';
  else if (body !== null || methodsWithBody.has(method)) text += `content-length: ${bodyBytes}\r\n`;
  return { text: `${text}\r\n`, bodyBytes };
}

/** Cached for frozen headers, which many requests share. */
const keptLines = new WeakMap<ForwardRequest['headers'], string>();

function linesOf(headers: ForwardRequest['headers']): string {
  if (!Object.isFrozen(headers)) return writtenLines(headers);
  let lines = keptLines.get(headers);
  if (lines === undefined) keptLines.set(headers, (lines = writtenLines(headers)));
  return lines;
}

function writtenLines(headers: ForwardRequest['headers']): string {
  let lines = '';
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? '';
    const lower = name.toLowerCase();
    if (isOwnHeader(lower)) continue;
    if (!token.test(name) || notInValues.test(value)) throw unfit(`the header ${lower}`);
    lines += `${lower}: ${value}\r\n`;
  }
  return lines;
}

function bytesOf({ body, streamBytes }: ForwardRequest): number | null {
  if (body === null) return 0;
  if (body instanceof Uint8Array) return body.length;
  const isLength = streamBytes === null || (Number.isSafeInteger(streamBytes) && streamBytes >= 0);
  if (!isLength) throw unfit('the length of its body');
  return streamBytes;
}

const unfit = (what: string): HttpFailure =>
  new HttpFailure('ERR_INVALID_CHAR', `The request cannot be sent: ${what} is invalid.`);
