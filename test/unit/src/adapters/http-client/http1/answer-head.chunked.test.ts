import { describe, expect, it } from 'vitest';
import { ChunkedBody } from '#adapters/http-client/http1/answer-head.ts';

/** Reads the text in pieces of so many bytes; what came out, and how much of it belonged to the body. */
function read(text: string, pieceBytes = text.length) {
  let body = '';
  let used = 0;
  const chunks = new ChunkedBody((piece) => (body += piece.toString('latin1')));
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length && !chunks.isComplete; at += pieceBytes) {
    used += chunks.take(bytes.subarray(at, at + pieceBytes));
  }
  return { body, used, isComplete: chunks.isComplete };
}

const whole = '5;name="v;\\"";b=c;d\r\nhello\r\n0A\r\n, world!\r\n\r\n0\r\nx-sum: 1\r\n\r\n';

describe('a body in chunks', () => {
  it('comes out the same however it is cut', () => {
    for (let size = 1; size <= whole.length; size += 1) {
      expect(read(whole, size)).toEqual({
        body: 'hello, world!\r\n',
        used: whole.length,
        isComplete: true,
      });
    }
  });

  it('leaves what follows it alone', () => {
    expect(read('1\r\na\r\n0\r\n\r\nHTTP/1.1 200 OK')).toMatchObject({ body: 'a', used: 11 });
  });

  it('is not complete before its last empty line', () => {
    expect(read('1\r\na\r\n0\r\n').isComplete).toBe(false);
  });

  it.each([
    ['a size that is no number', 'x\r\n'],
    ['a negative size', '-1\r\n'],
    ['a size with a prefix', '0x1\r\na'],
    ['no size', '\r\n'],
    ['a size beyond what is counted', `${'f'.repeat(13)}\r\n`],
    ['a size that ends with a bare line feed', '1\na\r\n'],
    ['a carriage return within an extension', '1;a\rb\r\n'],
    ['white space after a size', '1 \r\na\r\n'],
    ['white space in an extension', '1; a\r\nb\r\n'],
    ['an extension without a name', '1;=a\r\nb\r\n'],
    ['an extension that is no text', '1;\xe9\r\nb\r\n'],
    ['more data than was said', '1\r\nab\r\n'],
    ['a field at the end that is none', '0\r\nno field\r\n\r\n'],
    ['an extension without end', `1;${'x'.repeat(5_000)}`],
    ['fields without end', `0\r\n${'x: 1\r\n'.repeat(20_000)}`],
  ])('is refused with %s', (_, text) => {
    for (const size of [1, text.length]) {
      expect(() => read(text, size)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_ANSWER' }),
      );
    }
  });
});
