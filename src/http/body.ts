import type { IncomingMessage } from 'node:http';
import { GatewayError } from '#kernel/errors.ts';
import { parseExactJson } from '#kernel/exact-json.ts';
import { limits } from '#kernel/limits.ts';

/**
 * Reads and parses a JSON body; undefined when there is none. The limit applies while reading, so that a body with
 * a missing or wrong length is cut just as early.
 * @throws GatewayError `request_too_large`, `invalid_json`, `invalid_content_type` (a compressed body)
 */
export async function readJson(
  request: IncomingMessage,
  bytesMax: number = limits.requestBytesMax,
): Promise<unknown> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    const message = 'Compressed request bodies are not accepted.';
    throw new GatewayError('invalid_content_type', { message });
  }
  const text = decode(await readBytes(request, bytesMax));
  if (text === '') return undefined;
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (cause) {
    throw new GatewayError('invalid_json', {}, { cause });
  }
  refuseDepth(value, text.length);
  return value;
}

/**
 * Reads a form (application/x-www-form-urlencoded); a name that occurs several times has a list. Names are data: the
 * result has no prototype that `__proto__` could reach.
 * @throws GatewayError `request_too_large`, `invalid_request` (it breaks off)
 */
export async function readForm(
  request: IncomingMessage,
): Promise<Readonly<Record<string, string | string[]>>> {
  const bytes = await readBytes(request, limits.formBytesMax);
  const fields = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of new URLSearchParams(bytes.toString('utf8'))) {
    const before = fields[name];
    fields[name] = before === undefined ? value : [before, value].flat();
  }
  return fields;
}

/**
 * Reads a body unparsed; the limit applies while reading.
 * @param fix the fix for a larger body; default: the general one
 * @param signal aborts the wait for the body
 * @throws GatewayError `request_too_large`, `invalid_request` (it breaks off); the reason of the signal
 */
export async function readBytes(
  request: IncomingMessage,
  bytesMax: number,
  { fix, signal }: { readonly fix?: string; readonly signal?: AbortSignal } = {},
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax, fix);
  // A request without a body emits no further events.
  if (request.readableEnded) return Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (end: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onLost).off('close', onLost);
      signal?.removeEventListener('abort', onLate);
      end();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > bytesMax) settle(() => reject(tooLarge(bytesMax, fix)));
    };
    const onEnd = () => {
      settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    };
    const onLost = () => {
      const message = 'The body ended before its announced length.';
      settle(() => reject(new GatewayError('invalid_request', { message })));
    };
    const onLate = () => settle(() => reject(signal?.reason as Error));
    signal?.addEventListener('abort', onLate);
    request.on('data', onData).on('end', onEnd).on('error', onLost).on('close', onLost);
  });
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new GatewayError('invalid_json', { message: 'The body is not UTF-8.' }, { cause });
  }
}

/** Without recursion, because it guards against depth. */
function refuseDepth(value: unknown, chars: number): void {
  if (chars <= limits.jsonDepthMax * 2) return;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limits.jsonDepthMax) {
      const message = `The body is nested deeper than ${limits.jsonDepthMax} levels.`;
      throw new GatewayError('invalid_json', { message });
    }
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      for (const child of Object.values(item)) {
        if (typeof child === 'object' && child !== null) next.push(child);
      }
    }
    level = next;
  }
}

function tooLarge(bytesMax: number, fix?: string): GatewayError {
  const mib = bytesMax / 1024 ** 2;
  const size = mib < 1 ? `${Math.floor(bytesMax / 1024)} KiB` : `${Math.floor(mib)} MiB`;
  const message = `The request body is larger than ${size}.`;
  return new GatewayError('request_too_large', { message, ...(fix === undefined ? {} : { fix }) });
}
