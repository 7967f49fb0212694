import { urlParts } from '../url-parts.ts';
import { callSync } from './bridge.ts';
import { toText } from './text.ts';
import { URLSearchParams } from './url-search-params.ts';

type Part = (typeof urlParts)[number];
/** Every part of a URL, from the host's parser. */
type Parts = Readonly<Record<Part | 'origin', string>>;

/** A URL. The host parses it, so that it means the same here and where the request is made. */
export class URL {
  #parts: Parts;
  readonly #params: URLSearchParams;

  constructor(url: unknown, base?: unknown) {
    const parts = parseParts(url, base);
    if (parts === null) {
      const error = new TypeError('Invalid URL');
      Object.assign(error, { code: 'ERR_INVALID_URL', input: toText(url) });
      throw error;
    }
    this.#parts = parts;
    this.#params = URLSearchParams.bound(parts.search, () => {
      const query = this.#params.toString();
      this.#parts = change(this.#parts, 'search', query === '' ? '' : `?${query}`);
    });
  }

  static canParse(url: unknown, base?: unknown): boolean {
    return parseParts(url, base) !== null;
  }

  static parse(url: unknown, base?: unknown): URL | null {
    return URL.canParse(url, base) ? new URL(url, base) : null;
  }

  /** Used by the accessors below. */
  static readonly read = (url: URL, part: Part): string => url.#parts[part];

  static readonly write = (url: URL, part: Part, value: string): void => {
    url.#parts = change(url.#parts, part, value);
    if (part === 'href' || part === 'search') URLSearchParams.reset(url.#params, url.#parts.search);
  };

  get origin(): string {
    return this.#parts.origin;
  }

  get searchParams(): URLSearchParams {
    return this.#params;
  }

  toString(): string {
    return this.#parts.href;
  }

  toJSON(): string {
    return this.#parts.href;
  }

  get [Symbol.toStringTag](): string {
    return 'URL';
  }
}

const { read, write } = URL;
Reflect.deleteProperty(URL, 'read');
Reflect.deleteProperty(URL, 'write');
for (const part of urlParts) {
  Object.defineProperty(URL.prototype, part, {
    get(this: URL) {
      return read(this, part);
    },
    set(this: URL, value: unknown) {
      write(this, part, toText(value));
    },
    enumerable: true,
    configurable: true,
  });
}

function parseParts(url: unknown, base: unknown): Parts | null {
  const text = callSync('url.parse', [toText(url), base === undefined ? null : toText(base)]);
  return JSON.parse(text) as Parts | null;
}

function change(parts: Parts, part: Part, value: string): Parts {
  const text = callSync('url.set', [parts.href, part, value]);
  const changed = JSON.parse(text) as Parts | null;
  if (changed === null) throw new TypeError('Invalid URL');
  return changed;
}
