import { Buffer } from './buffer.ts';
import { toText } from './text.ts';

/** Pairs of a query or a form, in order (application/x-www-form-urlencoded). */
export class URLSearchParams {
  #pairs: [string, string][] = [];
  /** Called on every change: keeps the URL that owns these params in sync. */
  #changed: (() => void) | null = null;

  constructor(init?: unknown) {
    if (init === undefined || init === null) return;
    if (typeof init === 'object') this.#pairs = pairsOf(init);
    else this.#pairs = parse(toText(init));
  }

  /** The params of a URL: `changed` is called after each change. */
  static bound(query: string, changed: () => void): URLSearchParams {
    const params = new URLSearchParams(query);
    params.#changed = changed;
    return params;
  }

  /** Sets a new query without notification. */
  static reset(params: URLSearchParams, query: string): void {
    params.#pairs = parse(query);
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: unknown, value: unknown): void {
    this.#pairs.push([toText(name), toText(value)]);
    this.#changed?.();
  }

  delete(name: unknown, value?: unknown): void {
    this.#pairs = this.#pairs.filter(
      (pair) => pair[0] !== toText(name) || (value !== undefined && pair[1] !== toText(value)),
    );
    this.#changed?.();
  }

  get(name: unknown): string | null {
    return this.#pairs.find((pair) => pair[0] === toText(name))?.[1] ?? null;
  }

  getAll(name: unknown): string[] {
    return this.#pairs.filter((pair) => pair[0] === toText(name)).map((pair) => pair[1]);
  }

  has(name: unknown, value?: unknown): boolean {
    const values = this.getAll(name);
    return value === undefined ? values.length > 0 : values.includes(toText(value));
  }

  set(name: unknown, value: unknown): void {
    const first = this.#pairs.findIndex((pair) => pair[0] === toText(name));
    if (first === -1) this.#pairs.push([toText(name), toText(value)]);
    else {
      this.#pairs = this.#pairs.filter((pair, at) => at <= first || pair[0] !== toText(name));
      this.#pairs[first] = [toText(name), toText(value)];
    }
    this.#changed?.();
  }

  sort(): void {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#changed?.();
  }

  forEach(visit: (value: string, name: string, params: URLSearchParams) => void): void {
    for (const [name, value] of this) visit(value, name, this);
  }

  *entries(): Generator<[string, string]> {
    for (const [name, value] of this.#pairs) yield [name, value];
  }

  *keys(): Generator<string> {
    for (const [name] of this.#pairs) yield name;
  }

  *values(): Generator<string> {
    for (const [, value] of this.#pairs) yield value;
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return 'URLSearchParams';
  }

  toString(): string {
    return this.#pairs.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&');
  }
}

function pairsOf(init: object): [string, string][] {
  if (Symbol.iterator in init) {
    return Array.from(init as Iterable<Iterable<unknown>>, (pair) => {
      const [name, value, ...rest] = Array.from(pair);
      if (rest.length > 0 || value === undefined) {
        throw new TypeError('Each query pair must be an iterable [name, value] tuple');
      }
      return [toText(name), toText(value)];
    });
  }
  return Object.entries(init).map(([name, value]) => [name, toText(value)]);
}

function parse(text: string): [string, string][] {
  return text
    .replace(/^\?/, '')
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=');
      return at === -1
        ? [unescape(part), '']
        : [unescape(part.slice(0, at)), unescape(part.slice(at + 1))];
    });
}

function escape(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/%20/g, '+')
    .replace(/[!'()~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Percent signs that begin no byte are kept; invalid UTF-8 becomes U+FFFD. */
function unescape(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  return spaced.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return Buffer.from(run.replaceAll('%', ''), 'hex').toString();
    }
  });
}
