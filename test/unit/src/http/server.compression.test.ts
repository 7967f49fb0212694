import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { encodedAnswer } from '#http/server.ts';

const body = { records: Array.from({ length: 1000 }, (_, id) => ({ id, name: `Record ${id}` })) };
const text = JSON.stringify(body);
const answer = { status: 200, body };
const bytes = (found: { readonly body?: unknown }): Buffer => found.body as Buffer;

describe('a compressed response', () => {
  it('has the coding that the client accepts, brotli first', async () => {
    const br = await encodedAnswer(answer, 'gzip, deflate, br');
    expect(br.headers).toEqual({ vary: 'accept-encoding', 'content-encoding': 'br' });
    expect(brotliDecompressSync(bytes(br)).toString()).toBe(text);
    const gzip = await encodedAnswer(answer, 'gzip, br;q=0');
    expect(gzip.headers).toEqual({ vary: 'accept-encoding', 'content-encoding': 'gzip' });
    expect(gunzipSync(bytes(gzip)).toString()).toBe(text);
  });

  it.each([undefined, '', 'identity', 'zstd', 'br;q=0, gzip;q=0', 'x'.repeat(4000)])(
    'is sent as it is to a client that accepts %j',
    async (accepted) => {
      const plain = await encodedAnswer(answer, accepted);
      expect(plain.headers).toEqual({ vary: 'accept-encoding' });
      expect(bytes(plain).toString()).toBe(text);
    },
  );

  it('is none that is short, holds secrets, is compressed already, or is no text', async () => {
    const image = { 'content-type': 'image/png' };
    const kept = [
      { status: 200, body: { id: 'short' } },
      { ...answer, headers: { 'cache-control': 'private, no-store' } },
      { ...answer, body: Buffer.from(text), headers: { 'content-encoding': 'gzip' } },
      { ...answer, body: Buffer.from(text), headers: image },
      { status: 204 },
    ];
    for (const one of kept) {
      const { headers } = await encodedAnswer(one, 'br, gzip');
      expect(headers).toEqual('headers' in one ? one.headers : undefined);
    }
  });

  it('is compressed once where the same bytes are sent again', async () => {
    const page = { status: 200, body: Buffer.from(text) };
    const [first, second] = [await encodedAnswer(page, 'br'), await encodedAnswer(page, 'br')];
    expect(second.body).toBe(first.body);
  });
});
