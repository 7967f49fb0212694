import { pipeline, type Readable } from 'node:stream';
import { HttpFailure } from '#ports/http-client.ts';
import { codings, createDecoder } from './decoders.ts';

/** A response with more codings is an attack. */
const codingsMax = 3;
const partialContent = 206;

/**
 * The codings that this client undoes, last applied first; none if it must leave them, as in a part of a coded
 * body.
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
 * Reads the body and undoes its codings, counting decoded bytes, so that a decompression bomb ends early.
 * @throws HttpFailure `ERR_BODY_TOO_LARGE`, `ERR_BODY_CODING`
 */
export async function readBody(
  body: Readable,
  undo: readonly string[],
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Its errors are those of the last stream, which the loop throws.
  const decoded =
    undo.length === 0 ? body : pipeline([body, ...undo.map(createDecoder)], () => undefined);
  for await (const chunk of decoded as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

export function tooLarge(maxBytes: number): HttpFailure {
  return new HttpFailure('ERR_BODY_TOO_LARGE', `The response is larger than ${maxBytes} bytes.`);
}
