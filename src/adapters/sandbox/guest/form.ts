import { Buffer } from './buffer.ts';
import { bytesOf, toText, utf8Decode, utf8Encode } from './text.ts';

const setCookie = 'set-cookie';

/** Header fields; names are case-insensitive and kept in lower case. */
export class Headers {
  #fields = new Map<string, string[]>();

  constructor(init?: unknown) {
    if (init === undefined || init === null || typeof init !== 'object') return;
    const pairs =
      Symbol.iterator in init ? (init as Iterable<[unknown, unknown]>) : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }

  append(name: unknown, value: unknown): void {
    const values = this.#fields.get(key(name)) ?? [];
    this.#fields.set(key(name), [...values, toText(value).trim()]);
  }

  delete(name: unknown): void {
    this.#fields.delete(key(name));
  }

  get(name: unknown): string | null {
    return this.#fields.get(key(name))?.join(', ') ?? null;
  }

  /** Each cookie, which may have commas. */
  getSetCookie(): string[] {
    return [...(this.#fields.get(setCookie) ?? [])];
  }

  has(name: unknown): boolean {
    return this.#fields.has(key(name));
  }

  set(name: unknown, value: unknown): void {
    this.#fields.set(key(name), [toText(value).trim()]);
  }

  forEach(visit: (value: string, name: string, headers: Headers) => void): void {
    for (const [name, value] of this) visit(value, name, this);
  }

  /** By name; cookies one by one, other values of one name joined. */
  *entries(): Generator<[string, string]> {
    for (const [name, values] of [...this.#fields].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const shown = name === setCookie ? values : [values.join(', ')];
      for (const value of shown) yield [name, value];
    }
  }

  *keys(): Generator<string> {
    for (const [name] of this) yield name;
  }

  *values(): Generator<string> {
    for (const [, value] of this) yield value;
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries();
  }
}

/** The characters of a name in RFC 9110 section 5.6.2. */
const headerName = /^[\w!#$%&'*+.^`|~-]+$/;

function key(name: unknown): string {
  const text = toText(name);
  if (headerName.test(text)) return text.toLowerCase();
  throw new TypeError(`Headers: ${JSON.stringify(text)} is an invalid header name.`);
}

/** Bytes with a media type. */
export class Blob {
  readonly #bytes: Buffer;
  readonly type: string;

  constructor(parts: Iterable<unknown> = [], options: { type?: string } = {}) {
    this.#bytes = Buffer.concat(Array.from(parts, partBytes));
    this.type = toText(options.type ?? '').toLowerCase();
  }

  /** Synchronous access to the bytes, for the encoder of bodies. */
  static readonly bytesOf = (blob: Blob): Buffer => blob.#bytes;

  get size(): number {
    return this.#bytes.length;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return new Uint8Array(this.#bytes).buffer;
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(this.#bytes);
  }

  async text(): Promise<string> {
    return utf8Decode(this.#bytes);
  }

  slice(start?: number, end?: number, type?: string): Blob {
    return new Blob([this.#bytes.subarray(start, end)], type === undefined ? {} : { type });
  }
}

export const bytesOfBlob = Blob.bytesOf;
Reflect.deleteProperty(Blob, 'bytesOf');

function partBytes(part: unknown): Uint8Array {
  if (part instanceof Blob) return bytesOfBlob(part);
  return bytesOf(part) ?? utf8Encode(toText(part));
}

type Entry = readonly [name: string, value: string | Blob, fileName: string];

/** Fields and files of a form, in order. */
export class FormData {
  #entries: Entry[] = [];

  append(name: unknown, value: unknown, fileName?: unknown): void {
    this.#entries.push(entryOf(name, value, fileName));
  }

  set(name: unknown, value: unknown, fileName?: unknown): void {
    const first = this.#entries.findIndex((entry) => entry[0] === toText(name));
    this.delete(name);
    const at = first === -1 ? this.#entries.length : first;
    this.#entries.splice(at, 0, entryOf(name, value, fileName));
  }

  delete(name: unknown): void {
    this.#entries = this.#entries.filter((entry) => entry[0] !== toText(name));
  }

  get(name: unknown): string | Blob | null {
    return this.#entries.find((entry) => entry[0] === toText(name))?.[1] ?? null;
  }

  getAll(name: unknown): (string | Blob)[] {
    return this.#entries.filter((entry) => entry[0] === toText(name)).map((entry) => entry[1]);
  }

  has(name: unknown): boolean {
    return this.#entries.some((entry) => entry[0] === toText(name));
  }

  *entries(): Generator<[string, string | Blob]> {
    for (const [name, value] of this.#entries) yield [name, value];
  }

  *keys(): Generator<string> {
    for (const [name] of this.#entries) yield name;
  }

  *values(): Generator<string | Blob> {
    for (const [, value] of this.#entries) yield value;
  }

  forEach(visit: (value: string | Blob, name: string, form: FormData) => void): void {
    for (const [name, value] of this) visit(value, name, this);
  }

  [Symbol.iterator](): Generator<[string, string | Blob]> {
    return this.entries();
  }

  /** The multipart body (RFC 7578) between the boundary lines. */
  static readonly encode = (form: FormData, boundary: string): Buffer => {
    const parts = form.#entries.flatMap(([name, value, fileName]) => {
      const isFile = value instanceof Blob;
      const file = isFile
        ? `; filename="${quoted(fileName)}"\r\nContent-Type: ${value.type === '' ? 'application/octet-stream' : value.type}`
        : '';
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}\r\n\r\n`;
      return [
        utf8Encode(head),
        isFile ? bytesOfBlob(value) : utf8Encode(value),
        utf8Encode('\r\n'),
      ];
    });
    return Buffer.concat([...parts, utf8Encode(`--${boundary}--\r\n`)]);
  };
}

export const encodeForm = FormData.encode;
Reflect.deleteProperty(FormData, 'encode');

function entryOf(name: unknown, value: unknown, fileName: unknown): Entry {
  const isFile = value instanceof Blob;
  const called = fileName === undefined ? 'blob' : toText(fileName);
  return [toText(name), isFile ? value : toText(value), called];
}

const quoted = (text: string): string =>
  text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
