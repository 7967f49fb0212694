import { describe, expect, it } from 'vitest';
import { parseAnswerHead } from '#adapters/http-client/http1/answer-head.ts';

const head = (...lines: string[]) => parseAnswerHead(lines.join('\r\n'), 'GET');
const ok = 'HTTP/1.1 200 OK';

describe('the head of an answer', () => {
  it('is read into status, text and fields as they came', () => {
    expect(head('HTTP/1.1 404 Not Found', 'X-A:1 ', 'x-a: \t2', 'Content-Length: 5')).toEqual({
      status: 404,
      statusText: 'Not Found',
      headers: ['x-a', '1', 'x-a', '2', 'content-length', '5'],
      framing: { kind: 'length', bytes: 5 },
      keptMs: 4_000,
    });
  });

  it('may lack a text, and carry bytes above ASCII', () => {
    expect(head('HTTP/1.1 200', 'x: \xe9')).toMatchObject({
      statusText: '',
      headers: ['x', '\xe9'],
    });
  });

  it('keeps what is white space elsewhere, but not in HTTP', () => {
    expect(head(ok, 'x: \xa0a\xa0').headers).toEqual(['x', '\xa0a\xa0']);
  });

  it.each([
    ['a length', ['Content-Length: 5'], 'length', 5],
    ['chunks', ['Transfer-Encoding: Chunked'], 'chunked', undefined],
    ['neither: until the end of the connection', [], 'close', undefined],
  ])('frames the body by %s', (_, fields, kind, bytes) => {
    expect(head(ok, ...fields).framing).toEqual(bytes === undefined ? { kind } : { kind, bytes });
  });

  it.each(['HTTP/1.1 204 No Content', 'HTTP/1.1 304 Not Modified', 'HTTP/1.1 103 Early Hints'])(
    'of %s has no body, whatever it says',
    (line) => {
      expect(head(line, 'content-length: 7').framing).toEqual({ kind: 'length', bytes: 0 });
    },
  );

  it('of an answer to HEAD has no body', () => {
    const { framing } = parseAnswerHead(`${ok}\r\ncontent-length: 7`, 'HEAD');
    expect(framing).toEqual({ kind: 'length', bytes: 0 });
  });

  it.each([
    ['is closed by its server', ['connection: keep-alive, Close', 'content-length: 0'], 0],
    ['ends with its body', [], 0],
    [
      'is kept for as long as its server says, less a moment',
      ['keep-alive: timeout=30', 'content-length: 0'],
      29_000,
    ],
    ['is not kept for a second', ['keep-alive: max=5, timeout=1', 'content-length: 0'], 0],
  ])('says when the connection %s', (_, fields, keptMs) => {
    expect(head(ok, ...fields).keptMs).toBe(keptMs);
  });

  it('of HTTP/1.0 ends the connection', () => {
    expect(head('HTTP/1.0 200 OK', 'content-length: 0').keptMs).toBe(0);
  });
});

describe('a head that could be read in two ways is refused', () => {
  it.each([
    ['no status line', 'hello'],
    ['another protocol', 'HTTP/2 200 OK'],
    ['a status of two digits', 'HTTP/1.1 20 OK'],
    ['a status below 100', 'HTTP/1.1 099 No'],
    ['a bare line feed', `${ok}\nx: 1`],
    ['a bare carriage return', `${ok}\r\nx: 1\ry: 2`],
    ['a NUL', `${ok}\r\nx: \0`],
    ['a folded line', `${ok}\r\nx: 1\r\n 2`],
    ['a space before the colon', `${ok}\r\nContent-Length : 5`],
    ['a line without a colon', `${ok}\r\nx`],
    ['a field without a name', `${ok}\r\n: 1`],
    ['a length twice alike', `${ok}\r\ncontent-length: 5\r\ncontent-length: 5`],
    ['two lengths', `${ok}\r\ncontent-length: 5\r\ncontent-length: 6`],
    ['a list of lengths', `${ok}\r\ncontent-length: 5, 5`],
    ['a signed length', `${ok}\r\ncontent-length: +5`],
    ['a length that is no number', `${ok}\r\ncontent-length: 0x5`],
    ['an empty length', `${ok}\r\ncontent-length:`],
    ['a length beyond what is counted', `${ok}\r\ncontent-length: 9999999999999999`],
    ['a length beside chunks', `${ok}\r\ncontent-length: 5\r\ntransfer-encoding: chunked`],
    ['chunks within another coding', `${ok}\r\ntransfer-encoding: gzip, chunked`],
    ['an unknown coding', `${ok}\r\ntransfer-encoding: xchunked`],
    ['two codings', `${ok}\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked`],
    ['a tab beside a length', `${ok}\r\ncontent-length: 5\t`],
    ['a tab beside chunks', `${ok}\r\ntransfer-encoding:\tchunked`],
    ['an interim answer that closes', 'HTTP/1.1 103 Early Hints\r\nconnection: close'],
    ['an interim answer of HTTP/1.0', 'HTTP/1.0 100 Continue'],
    ['chunks of HTTP/1.0', 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked'],
  ])('%s', (_, text) => {
    expect(() => parseAnswerHead(text, 'GET')).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ANSWER' }),
    );
  });
});
