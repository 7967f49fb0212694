import { TextDecoder } from '@exodus/bytes/encoding.js';

interface Flags {
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  readonly stream: boolean;
}

/** Bytes of the longest incomplete character. */
const pendingBytesMax = 3;

/** The encoding's name for a label of the Encoding standard; null for another text. */
export function encodingOf(label: string): string | null {
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
export function decodeText(
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
