import { LRUCache } from 'lru-cache';
import { HttpFailure } from '#ports/http-client.ts';
import { token } from './fields.ts';

/** Framing of a body (RFC 9112 section 6.3): by length, by chunks, or until the connection ends. */
export type Framing =
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'close' };

export interface AnswerHead {
  readonly status: number;
  readonly statusText: string;
  /** Lower-case names alternating with values, in the order of arrival. */
  readonly headers: readonly string[];
  readonly framing: Framing;
  /** How long the connection may stay idle; 0: it ends with this response. */
  readonly keptMs: number;
}

/** How long servers keep an idle connection at least, unless they announce another time. */
const keptMsDefault = 4_000;
const keptMsMax = 60_000;
/** Margin before the announced time, because of latency. */
const marginMs = 1_000;

/** Control characters but tabs and line ends, and characters beyond one byte. */
const forbidden = /[^\t\r\n\x20-\x7e\x80-\xff]/;
const code = { cr: 0x0d, space: 0x20, tab: 0x09, zero: 0x30, one: 0x31, nine: 0x39 } as const;
const digits = /^\d{1,15}$/;

/** Some readers do not treat a tab beside these values as white space. */
const framingFields = new Set(['content-length', 'transfer-encoding']);

/** Cache of lower-case names: servers send the same few. */
const names = new LRUCache<string, string>({ max: 1000 });

/** Why a response is rejected; a framing that two readers may interpret differently is never guessed. */
export const notHttp = (what: string): HttpFailure =>
  new HttpFailure('ERR_INVALID_ANSWER', `The response is not valid HTTP: ${what}.`);

/**
 * Parses status line and fields strictly: no line folding, no bare line ends, no space before a colon, one framing
 * (RFC 9112 sections 4 to 6).
 * @param text in latin1, without the final empty line
 * @param method of the request: the response to HEAD has no body
 * @throws HttpFailure `ERR_INVALID_ANSWER`
 */
export function parseAnswerHead(text: string, method: string): AnswerHead {
  if (forbidden.test(text)) throw notHttp('a character that is not allowed in a head');
  let end = lineEnd(text, 0);
  const { status, statusText, isHttp11 } = readStatusLine(text, end);
  const headers: string[] = [];
  const messageFraming: MessageFraming = {
    length: null,
    coding: null,
    connection: '',
    keepAlive: '',
  };
  for (let at = end + 2; at <= text.length; at = end + 2) {
    end = lineEnd(text, at);
    const colon = text.indexOf(':', at);
    const name = nameOf(colon < 0 || colon > end ? '' : text.slice(at, colon));
    const value = trimmed(text, colon + 1, end);
    if (framingFields.has(name) && text.slice(colon + 1, end).includes('\t')) {
      throw notHttp(`a tab beside its ${name}`);
    }
    headers.push(name, value);
    note(messageFraming, name, value);
  }
  const framing = framingOf(status, method, isHttp11, messageFraming);
  const isClosing = !isHttp11 || messageFraming.connection.includes('close');
  if (status < 200 && isClosing) throw notHttp('an interim response that closes the connection');
  const isKept = !isClosing && framing.kind !== 'close';
  return {
    status,
    statusText,
    headers,
    framing,
    keptMs: isKept ? keptMsOf(messageFraming.keepAlive) : 0,
  };
}

/** End of the line that begins there: before CRLF, or at the end of the text. A lone CR or LF is invalid. */
function lineEnd(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  const end = feed < 0 ? text.length : feed - 1;
  const carriage = text.indexOf('\r', from);
  if (feed < 0 ? carriage >= 0 : carriage !== end) throw notHttp('a line ending');
  return end;
}

/** `HTTP/1.1 200 OK`; the reason phrase may be missing, with its space. */
function readStatusLine(text: string, end: number) {
  const minor = text.charCodeAt(7);
  const status = 100 * digit(text, 9) + 10 * digit(text, 10) + digit(text, 11);
  const isWhole =
    text.startsWith('HTTP/1.') &&
    (minor === code.zero || minor === code.one) &&
    text.charCodeAt(8) === code.space &&
    !Number.isNaN(status) &&
    (end === 12 || (end > 12 && text.charCodeAt(12) === code.space));
  if (!isWhole || status < 100) throw notHttp('its status line');
  return { status, statusText: text.slice(13, end), isHttp11: minor === code.one };
}

/** NaN if there is none. */
function digit(text: string, at: number): number {
  const char = text.charCodeAt(at);
  return char >= code.zero && char <= code.nine ? char - code.zero : Number.NaN;
}

/** Without surrounding white space. */
function trimmed(text: string, from: number, target: number): string {
  let start = from;
  let end = target;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const isBlank = (char: number): boolean => char === code.space || char === code.tab;

/** Facts about the message and the connection from the fields. */
interface MessageFraming {
  length: string | null;
  coding: string | null;
  connection: string;
  keepAlive: string;
}

function nameOf(sent: string): string {
  const existing = names.get(sent);
  if (existing !== undefined) return existing;
  if (!token.test(sent)) throw notHttp('the name of a field');
  // Property names are interned, so that comparing them is a pointer comparison.
  const [name = ''] = Object.keys({ [sent.toLowerCase()]: null });
  names.set(sent, name);
  return name;
}

function note(framing: MessageFraming, name: string, value: string): void {
  switch (name) {
    case 'content-length':
      if (framing.length !== null) throw notHttp('more than one Content-Length');
      if (!digits.test(value)) throw notHttp('its Content-Length');
      framing.length = value;
      break;
    case 'transfer-encoding':
      if (framing.coding !== null) throw notHttp('more than one Transfer-Encoding');
      framing.coding = value.toLowerCase();
      break;
    case 'connection':
      framing.connection += `,${value.toLowerCase()}`;
      break;
    case 'keep-alive':
      framing.keepAlive = value;
      break;
  }
}

function framingOf(
  status: number,
  method: string,
  isHttp11: boolean,
  framing: MessageFraming,
): Framing {
  if (
    framing.coding !== null &&
    (framing.coding !== 'chunked' || framing.length !== null || !isHttp11)
  ) {
    throw notHttp('its Transfer-Encoding, or a Content-Length beside it');
  }
  const hasNoBody = status < 200 || status === 204 || status === 304 || method === 'HEAD';
  if (hasNoBody) return { kind: 'length', bytes: 0 };
  if (framing.coding !== null) return { kind: 'chunked' };
  return framing.length === null
    ? { kind: 'close' }
    : { kind: 'length', bytes: Number(framing.length) };
}

function keptMsOf(keepAlive: string): number {
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})/i.exec(keepAlive)?.[1];
  if (seconds === undefined) return keptMsDefault;
  return Math.max(0, Math.min(Number(seconds) * 1000 - marginMs, keptMsMax));
}

/** Limit of the size line of a chunk with its extensions, and of all trailer fields. */
const lineBytesMax = 4 * 1024;
const trailerBytesMax = 64 * 1024;

/** With extensions as in RFC 9112 section 7.1.1, except for white space, which not every reader accepts. */
const sizeLine =
  /^([0-9a-fA-F]{1,12})(?:;[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:=(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)*$/;
const trailerLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;

/** A chunked body (RFC 9112 section 7.1). Extensions and trailer fields are read and dropped. */
export class ChunkedBody {
  readonly #deliver: (piece: Buffer) => void;
  #expects: 'size' | 'data' | 'end of data' | 'trailer' | 'nothing' = 'size';
  /** Bytes left in the current chunk. */
  #left = 0;
  /** An incomplete line. */
  #partial = '';
  #trailerBytes = 0;

  /** @param deliver receives the bytes of the body as they arrive */
  constructor(deliver: (piece: Buffer) => void) {
    this.#deliver = deliver;
  }

  get isComplete(): boolean {
    return this.#expects === 'nothing';
  }

  /**
   * Returns how many of the bytes belong to the body; fewer than all only once it is complete.
   * @throws HttpFailure `ERR_INVALID_ANSWER`
   */
  take(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.#expects !== 'nothing') {
      at = this.#expects === 'data' ? this.#data(bytes, at) : this.#line(bytes, at);
    }
    return at;
  }

  #data(bytes: Buffer, from: number): number {
    const target = Math.min(bytes.length, from + this.#left);
    this.#left -= target - from;
    if (this.#left === 0) this.#expects = 'end of data';
    this.#deliver(bytes.subarray(from, target));
    return target;
  }

  #line(bytes: Buffer, from: number): number {
    const end = bytes.indexOf(0x0a, from);
    const target = end < 0 ? bytes.length : end + 1;
    if (this.#partial.length + target - from > lineBytesMax)
      throw notHttp('a line of a chunk above the limit');
    this.#partial += bytes.toString('latin1', from, target);
    if (end < 0) return target;
    const line = this.#partial;
    this.#partial = '';
    if (!line.endsWith('\r\n')) throw notHttp('a line ending in a chunk');
    this.#read(line.slice(0, -2));
    return target;
  }

  #read(line: string): void {
    if (this.#expects === 'end of data') {
      if (line !== '') throw notHttp('the end of a chunk');
      this.#expects = 'size';
    } else if (this.#expects === 'size') {
      const size = sizeLine.exec(line)?.[1];
      if (size === undefined) throw notHttp('the size of a chunk');
      this.#left = Number.parseInt(size, 16);
      this.#expects = this.#left === 0 ? 'trailer' : 'data';
    } else {
      this.#trailerBytes += line.length;
      if (line !== '' && (!trailerLine.test(line) || this.#trailerBytes > trailerBytesMax)) {
        throw notHttp('a field after the last chunk');
      }
      if (line === '') this.#expects = 'nothing';
    }
  }
}
