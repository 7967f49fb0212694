import { HttpFailure, type ForwardRequest } from '../../../ports/http-client.ts';
import { ownHeaders, token } from './fields.ts';

const methodsWithBody = new Set(['POST', 'PUT', 'PATCH']);
const notInValues = /[^\t\x20-\x7e\x80-\xff]/;
const notInTargets = /[^\x21-\x7e]/;

/** How the body of a request travels. */
export interface SentHead {
  readonly text: string;
  /** What the body must come to; null: it goes in chunks. */
  readonly bodyBytes: number | null;
}

/**
 * The head of a request. Nothing in it can end a line: what could is refused.
 * @throws HttpFailure `ERR_INVALID_CHAR`
 */
export function requestHead(request: ForwardRequest): SentHead {
  const { method, url, headers, body } = request;
  const target = `${url.pathname}${url.search}`;
  if (!token.test(method) || notInTargets.test(target)) throw unfit('its method or its target');
  const { lines, said } = fieldsOf(headers);
  let text = `${method} ${target} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n${lines}`;
  const bodyBytes = bytesOf(body, said);
  if (bodyBytes === null) text += 'transfer-encoding: chunked\r\n';
  else if (body !== null || methodsWithBody.has(method)) text += `content-length: ${bodyBytes}\r\n`;
  return { text: `${text}\r\n`, bodyBytes };
}

interface Fields {
  readonly lines: string;
  /** The length that the headers give the body. */
  readonly said: string | undefined;
}

/** Of headers that are frozen, and so of many requests. */
const keptFields = new WeakMap<ForwardRequest['headers'], Fields>();

function fieldsOf(headers: ForwardRequest['headers']): Fields {
  if (!Object.isFrozen(headers)) return readFields(headers);
  let fields = keptFields.get(headers);
  if (fields === undefined) keptFields.set(headers, (fields = readFields(headers)));
  return fields;
}

function readFields(headers: ForwardRequest['headers']): Fields {
  let lines = '';
  let said: string | undefined;
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? '';
    const lower = name.toLowerCase();
    if (lower === 'content-length') said = value;
    if (ownHeaders.has(lower)) continue;
    if (!token.test(name) || notInValues.test(value)) throw unfit(`the header ${lower}`);
    lines += `${lower}: ${value}\r\n`;
  }
  return { lines, said };
}

function bytesOf(body: ForwardRequest['body'], said: string | undefined): number | null {
  if (body === null) return 0;
  if (body instanceof Uint8Array) return body.length;
  if (said === undefined) return null;
  if (!/^\d{1,15}$/.test(said)) throw unfit('the header content-length');
  return Number(said);
}

const unfit = (what: string): HttpFailure =>
  new HttpFailure('ERR_INVALID_CHAR', `The request cannot be sent as it is: ${what}.`);
