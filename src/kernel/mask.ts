/** Shorter values would be found in ordinary text. */
const valueCharsMin = 8;
const removed = '[removed]';

/**
 * Removes known secrets from texts: in clear, percent- and form-encoded, inside JSON, and in base64 (also within a
 * longer encoded text). Takes linear time in the text, regardless of number and form of the values.
 */
export class Mask {
  readonly #values = new Set<string>();
  readonly #trie = new Trie();

  /** Values shorter than 8 characters are ignored. In a value of several lines, each line is a secret. */
  add(value: string): void {
    if (value.length < valueCharsMin || this.#values.has(value)) return;
    this.#values.add(value);
    for (const form of formsOf(value)) this.#trie.add(form);
    const lines = value.split(/\r?\n/);
    if (lines.length > 1) for (const line of lines) this.add(line);
  }

  text(text: string): string {
    if (this.#values.size === 0) return text;
    const parts: string[] = [];
    let from = 0;
    for (const { start, end } of this.#trie.find(text)) {
      parts.push(text.slice(from, start), removed);
      from = end;
    }
    return from === 0 ? text : parts.join('') + text.slice(from);
  }

  /**
   * JSON data with every text in it masked, including names of fields. Uses no recursion, so that depth does not
   * matter.
   */
  data<T extends object>(value: T): T {
    if (this.#values.size === 0) return value;
    const masked = JSON.stringify(value).replaceAll(jsonText, (text) =>
      JSON.stringify(this.text(JSON.parse(text) as string)),
    );
    return JSON.parse(masked) as T;
  }
}

/** Each text of valid JSON, with its quotes. The last one is optional, so that no match is attempted in vain. */
const jsonText = /"[^"\\]*(?:\\.[^"\\]*)*"?/g;

/** The encodings in which the value is recognized. */
function formsOf(value: string): Set<string> {
  const percent = encodedBy(encodeURIComponent, value);
  const bytes = Buffer.from(value);
  const base64 = [0, 1, 2].map((offset) => base64Within(bytes, offset));
  return new Set([
    value,
    percent,
    percent.replaceAll(/%../g, (code) => code.toLowerCase()),
    encodedBy(encodeURI, value),
    new URLSearchParams({ '': value }).toString().slice(1),
    JSON.stringify(value).slice(1, -1),
    ...base64,
    ...base64.map((one) => one.replaceAll('+', '-').replaceAll('/', '_')),
  ]);
}

function encodedBy(encode: (text: string) => string, value: string): string {
  return encode(value.toWellFormed());
}

/** The base64 characters that depend on these bytes alone, with `offset` bytes before them. */
function base64Within(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  const from = Math.ceil((offset * 4) / 3);
  const isWhole = (offset + bytes.length) % 3 === 0;
  // The last character before the padding contains bits of the following byte; at the end of a text it belongs to
  // the value.
  const target = isWhole ? encoded.length : encoded.indexOf('=') - 1;
  return encoded.slice(from, target);
}

/** All patterns matched at once (Aho-Corasick): linear in the searched text. */
class Trie {
  /** Child by `parent * 65536 + code unit`; 0 is the root. */
  readonly #children = new Map<number, number>();
  /** Of each node: the edge that leads to it, and the length of the longest pattern that ends there (0: none). */
  readonly #edges: number[] = [0];
  readonly #lengths: number[] = [0];
  /** Of each node: the node of its longest proper suffix. Empty until the first search. */
  #suffixes: number[] = [];

  add(text: string): void {
    let node = 0;
    for (let at = 0; at < text.length; at++) {
      const edge = node * 65_536 + text.charCodeAt(at);
      let child = this.#children.get(edge);
      if (child === undefined) {
        child = this.#edges.push(edge) - 1;
        this.#lengths.push(0);
        this.#children.set(edge, child);
      }
      node = child;
    }
    this.#lengths[node] = text.length;
    this.#suffixes = [];
  }

  /** Positions of the matches, in order; overlapping or adjacent ones are merged. */
  find(text: string): { readonly start: number; readonly end: number }[] {
    if (this.#suffixes.length === 0) this.#link();
    const found: { start: number; end: number }[] = [];
    let node = 0;
    for (let at = 0; at < text.length; at++) {
      node = this.#step(node, text.charCodeAt(at));
      const length = this.#lengths[node] ?? 0;
      if (length === 0) continue;
      let start = at + 1 - length;
      for (let last = found.at(-1); last !== undefined && last.end >= start; last = found.at(-1)) {
        start = Math.min(start, last.start);
        found.pop();
      }
      found.push({ start, end: at + 1 });
    }
    return found;
  }

  #step(from: number, code: number): number {
    for (let node = from; ; node = this.#suffixes[node] ?? 0) {
      const child = this.#children.get(node * 65_536 + code);
      if (child !== undefined) return child;
      if (node === 0) return 0;
    }
  }

  /** Breadth first, so that shorter suffixes are linked before longer ones. */
  #link(): void {
    const byParent = Map.groupBy(this.#children, ([edge]) => Math.floor(edge / 65_536));
    this.#suffixes = new Array<number>(this.#edges.length).fill(0);
    let level = [0];
    while (level.length > 0) {
      const below: number[] = [];
      for (const parent of level) {
        for (const [edge, child] of byParent.get(parent) ?? []) {
          const suffix = parent === 0 ? 0 : this.#step(this.#suffixes[parent] ?? 0, edge % 65_536);
          this.#suffixes[child] = suffix;
          this.#lengths[child] = Math.max(this.#lengths[child] ?? 0, this.#lengths[suffix] ?? 0);
          below.push(child);
        }
      }
      level = below;
    }
  }
}
