import { Transform, Writable, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { HttpFailure } from '../../ports/http-client.ts';

const codings = new Set(['gzip', 'x-gzip', 'br', 'deflate']);
/** An answer coded more often than this is an attack, not a saving. */
const codingsMax = 3;

/** The codings of an answer that this client undoes, last applied first; null when it leaves them alone. */
export function codingsOf(header: string | undefined): string[] | null {
  const names = (header ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > codingsMax || names.some((name) => !codings.has(name))) return null;
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
  try {
    await pipeline([body, ...undo.map(decoder), count]);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!code?.startsWith('Z_') && !code?.startsWith('ERR__ERROR_FORMAT')) throw error;
    const message = 'The answer is not what its Content-Encoding says.';
    throw new HttpFailure('ERR_BODY_CODING', message, { cause: error });
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

export function tooLarge(maxBytes: number): HttpFailure {
  return new HttpFailure('ERR_BODY_TOO_LARGE', `The answer is larger than ${maxBytes} bytes.`);
}

export function decoder(coding: string): NodeJS.ReadWriteStream {
  if (coding === 'br') return createBrotliDecompress();
  return coding === 'deflate' ? createDeflateDecoder() : createGunzip();
}

/** `deflate` means zlib, but some servers send it raw: the first byte tells. */
function createDeflateDecoder(): Transform {
  let inner: Transform | null = null;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (inner === null) {
        inner = ((chunk[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
        inner.on('data', (data: Buffer) => this.push(data));
        inner.on('error', (error) => this.destroy(error));
      }
      inner.write(chunk, () => done());
    },
    flush(done) {
      if (inner === null) {
        done();
        return;
      }
      inner.once('end', () => done());
      inner.end();
    },
    destroy(error, done) {
      inner?.destroy();
      done(error);
    },
  });
}
