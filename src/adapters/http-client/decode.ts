import { Writable, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HttpFailure } from '../../ports/http-client.ts';
import { codings, createDecoder } from './decoders.ts';

/** An answer coded more often than this is an attack, not a saving. */
const codingsMax = 3;
const partialContent = 206;

/**
 * The codings of an answer that this client undoes, last applied first; none where it leaves them alone, as it must in
 * a part of a coded body.
 */
export function codingsOf(status: number, header: string | undefined): string[] {
  if (header === undefined || status === partialContent) return [];
  const names = header
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > codingsMax || names.some((name) => !codings.has(name))) return [];
  return names.reverse();
}

/**
 * Reads the body and undoes its codings, counting what comes out, so that a small body that unpacks to a
 * huge one ends early.
 * @throws HttpFailure `ERR_BODY_TOO_LARGE`, `ERR_BODY_CODING`
 */
export async function readBody(
  body: Readable,
  undo: readonly string[],
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const count = new Writable({
    write(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      chunks.push(chunk);
      done(size > maxBytes ? tooLarge(maxBytes) : null);
    },
  });
  await pipeline([body, ...undo.map(createDecoder), count]);
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

export function tooLarge(maxBytes: number): HttpFailure {
  return new HttpFailure('ERR_BODY_TOO_LARGE', `The answer is larger than ${maxBytes} bytes.`);
}
