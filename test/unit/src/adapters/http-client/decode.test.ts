import { Readable } from 'node:stream';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codingsOf, readBody } from '#adapters/http-client/decode.ts';

const garbage = Buffer.from('garbage, and more of it');
const coded: Readonly<Record<string, (text: string) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  'deflate (raw)': deflateRawSync,
  br: brotliCompressSync,
};

/** The text that comes out, or the code of the failure, as one piece and byte by byte. */
async function decoded(name: string, bytes: Buffer): Promise<string> {
  const undo = codingsOf(200, name.replace(' (raw)', ''));
  const outcomes = [[bytes], [...bytes].map((byte) => Buffer.from([byte]))].map((pieces) =>
    readBody(Readable.from(pieces), undo, 1024 ** 2).then(
      (body) => body.toString(),
      (error: unknown) => (error as { code: string }).code,
    ),
  );
  const [whole = '', cut] = await Promise.all(outcomes);
  expect(cut).toBe(whole);
  return whole;
}

/** A member of gzip whose header has all optional parts. */
function withAllFields(member: Buffer): Buffer {
  const start = Buffer.from(member.subarray(0, 10));
  start[3] = 2 + 4 + 8 + 16;
  const extra = Buffer.from([3, 0, 1, 2, 3]);
  const sum = Buffer.from([9, 9]);
  const texts = Buffer.from('name\0comment\0');
  return Buffer.concat([start, extra, texts, sum, member.subarray(10)]);
}

describe('a coded body', () => {
  it.each(Object.keys(coded))(
    'of %s is whole without a byte, and without what follows it',
    async (name) => {
      const code = coded[name]!;
      expect(await decoded(name, Buffer.alloc(0))).toBe('');
      expect(await decoded(name, code(''))).toBe('');
      expect(await decoded(name, code('hello'))).toBe('hello');
      expect(await decoded(name, Buffer.concat([code('hello'), garbage]))).toBe('hello');
    },
  );

  it.each(Object.keys(coded))('of %s that ends too early is a failure', async (name) => {
    const bytes = coded[name]!('hello');
    for (let end = 1; end < bytes.length; end += 1) {
      expect(await decoded(name, bytes.subarray(0, end))).toBe('ERR_BODY_CODING');
    }
  });

  const one = gzipSync('hello');
  const broken = Buffer.from(one);
  broken.writeUInt32LE(0, broken.length - 8);
  it.each([
    ['members', Buffer.concat([gzipSync('hel'), gzipSync(''), gzipSync('lo')]), 'hello'],
    ['a member with all fields', withAllFields(one), 'hello'],
    ['padding', Buffer.concat([one, Buffer.alloc(20)]), 'hello'],
    ['the beginning of a member after it', Buffer.concat([one, one.subarray(0, 2)]), 'hello'],
    ['half of a second member', Buffer.concat([one, one.subarray(0, 15)]), 'ERR_BODY_CODING'],
    ['a wrong checksum', broken, 'ERR_BODY_CODING'],
    ['no member', garbage, 'ERR_BODY_CODING'],
  ])('of gzip may have %s, or fails', async (_, bytes, outcome) => {
    expect(await decoded('gzip', bytes)).toBe(outcome);
  });

  it('may be coded more than once, and be empty', async () => {
    expect(await decoded('gzip, br', brotliCompressSync(gzipSync('hello')))).toBe('hello');
    expect(await decoded('gzip, br', Buffer.alloc(0))).toBe('');
  });

  it.each([
    ['another coding', 200, 'zstd'],
    ['too many codings', 200, 'gzip, gzip, gzip, gzip'],
    ['a part of it', 206, 'gzip'],
  ])('is left as it is: %s', (_, status, header) => {
    expect(codingsOf(status, header)).toEqual([]);
  });
});
