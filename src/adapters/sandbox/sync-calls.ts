import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { TextDecoder } from '@exodus/bytes/encoding.js';
import { z } from 'zod';
import { urlParts } from './url-parts.ts';

interface Flags {
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  readonly stream: boolean;
}

/** Bytes of the longest incomplete character. */
const pendingBytesMax = 3;

/** The encoding's name for a label of the Encoding standard; null for another text. */
function encodingOf(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * Text of the bytes, null for malformed ones if `fatal`, and how many bytes at their end wait for the rest of their
 * character. These are null, all of them, for an encoding with a state: its text is decoded again from its start.
 */
function decodeText(
  encoding: string,
  { fatal, ignoreBOM, stream }: Flags,
  bytes: Uint8Array,
): { readonly text: string | null; readonly pending: number | null } {
  const text = decodedOrNull(encoding, bytes, { fatal, ignoreBOM, stream });
  if (!stream || text === null) return { text, pending: 0 };
  if (encoding === 'iso-2022-jp') return { text, pending: null };
  // Without its incomplete end the text is the same in one piece.
  let pending = 0;
  while (pending < Math.min(pendingBytesMax, bytes.length)) {
    const complete = bytes.subarray(0, bytes.length - pending);
    if (decodedOrNull(encoding, complete, { fatal: false, ignoreBOM, stream: false }) === text)
      break;
    pending += 1;
  }
  return { text, pending };
}

function decodedOrNull(
  encoding: string,
  bytes: Uint8Array,
  { fatal, ignoreBOM, stream }: Flags,
): string | null {
  try {
    return new TextDecoder(encoding, { fatal, ignoreBOM }).decode(bytes, { stream });
  } catch (error) {
    if (fatal && error instanceof TypeError) return null;
    throw error;
  }
}

/** Synchronous calls of an isolate: digests, random bytes, text, URLs. None reaches outside the process. */
type SyncCall = (args: unknown) => unknown;

const algorithms = new Set(['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512']);
const randomBytesMax = 1_048_576;

const digestArgs = z.tuple([z.string(), z.string().nullable(), z.string()]);
const parseArgs = z.tuple([z.string(), z.string().nullable()]);
const setArgs = z.tuple([z.string(), z.enum(urlParts), z.string()]);
const labelArgs = z.tuple([z.string()]);
const decodeArgs = z.tuple([
  z.string(),
  z.object({ fatal: z.boolean(), ignoreBOM: z.boolean(), stream: z.boolean() }),
  z.string(),
]);
const randomArgs = z.tuple([z.int().min(0).max(randomBytesMax)]);

const calls: Readonly<Record<string, SyncCall>> = {
  digest(args) {
    const [name, key, data] = digestArgs.parse(args);
    const algorithm = name.toLowerCase().replace(/^(rsa-)?sha-?(?=\d)/, 'sha');
    if (!algorithms.has(algorithm)) return { error: `The digest ${name} is not supported` };
    const digest =
      key === null ? createHash(algorithm) : createHmac(algorithm, Buffer.from(key, 'base64'));
    return { digest: digest.update(Buffer.from(data, 'base64')).digest('base64') };
  },
  uuid: () => randomUUID(),
  random(args) {
    const [size] = randomArgs.parse(args);
    return randomBytes(size).toString('base64');
  },
  'text.encoding'(args) {
    const [label] = labelArgs.parse(args);
    return encodingOf(label);
  },
  'text.decode'(args) {
    const [encoding, flags, data] = decodeArgs.parse(args);
    return decodeText(encoding, flags, Buffer.from(data, 'base64'));
  },
  'url.parse'(args) {
    const [url, base] = parseArgs.parse(args);
    return partsOf(URL.parse(url, base ?? undefined));
  },
  'url.set'(args) {
    const [href, part, value] = setArgs.parse(args);
    const url = new URL(href);
    if (part === 'href' && !URL.canParse(value)) return null;
    url[part] = value;
    return partsOf(url);
  },
};

function partsOf(url: URL | null): object | null {
  if (url === null) return null;
  const parts = urlParts.map((part) => [part, url[part]]);
  return { ...Object.fromEntries(parts), origin: url.origin } as object;
}

/** JSON in, JSON out. @throws Error without details when the call is unknown or its arguments are invalid */
export function answerSync(method: string, args: string): string {
  const call = Object.hasOwn(calls, method) ? calls[method] : undefined;
  if (call === undefined) throw new Error('The call is not known.');
  try {
    return JSON.stringify(call(JSON.parse(args)));
  } catch {
    throw new Error('The arguments of the call are not valid.');
  }
}
