import { randomBytes } from 'node:crypto';

/** Where a canary was found, and how it was written there. */
export interface Finding {
  readonly canary: string;
  readonly encoding: string;
  readonly place: string;
}

interface Needle {
  readonly canary: string;
  readonly encoding: string;
  readonly bytes: Buffer;
}

/** What stands for a secret: with characters that every encoding but the clear text changes. */
export const newCanary = (): string => `${randomBytes(18).toString('hex')}/+?&=`;

/**
 * Secrets that were planted, and the search for them: in clear, base64 and base64url (at any offset), hex,
 * percent-encoded, form-encoded, and inside JSON.
 */
export class Canaries {
  readonly #needles: Needle[] = [];
  readonly #texts = new Map<string, string>();

  /** Remembers the secret, and returns it. */
  plant(canary: string, text = newCanary()): string {
    this.#texts.set(canary, text);
    for (const [encoding, written] of encodingsOf(text)) {
      this.#needles.push({ canary, encoding, bytes: Buffer.from(written) });
    }
    return text;
  }

  get names(): readonly string[] {
    return [...this.#texts.keys()];
  }

  /** Every canary that stands in the bytes, in whichever encoding. */
  search(place: string, bytes: Uint8Array | string): Finding[] {
    const searched = Buffer.from(bytes);
    return this.#needles
      .filter((needle) => searched.includes(needle.bytes))
      .map(({ canary, encoding }) => ({ canary, encoding, place }));
  }
}

function encodingsOf(text: string): [encoding: string, written: string][] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  const encodings: [string, string][] = [
    ['clear', text],
    ['json', JSON.stringify(text).slice(1, -1)],
    ['hex', hex],
    ['hex', hex.toUpperCase()],
    ['percent', encodeURIComponent(text)],
    ['form', new URLSearchParams({ '': text }).toString().slice(1)],
    ...[0, 1, 2].flatMap((offset): [string, string][] => {
      const base64 = base64Within(bytes, offset);
      return [
        ['base64', base64],
        ['base64url', base64.replaceAll('+', '-').replaceAll('/', '_')],
      ];
    }),
  ];
  const written = new Map(encodings.map(([encoding, one]) => [one, encoding]));
  return [...written].map(([one, encoding]) => [encoding, one]);
}

/** The characters of base64 that depend on these bytes alone, where `offset` bytes stand before them. */
function base64Within(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  const from = Math.ceil((offset * 4) / 3);
  const to = Math.floor((offset + bytes.length) / 3) * 4;
  return encoded.slice(from, to);
}
