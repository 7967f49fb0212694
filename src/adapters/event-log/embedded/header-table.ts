import type { Headers } from '#ports/event-log.ts';
import type { GrowingBuffer } from './growing-buffer.ts';

/** Names of headers that occur together, and the values of the first message that had them. */
type Shape = readonly (readonly [name: string, value: string])[];

/**
 * Headers of one batch. Names and constant values are written once, as shapes; a message only stores its shape and
 * the values that differ. A message of the first shape without differences takes no bytes.
 */
export class HeaderTableWriter {
  readonly #names: (readonly string[])[] = [];
  readonly #values: (readonly string[])[] = [];
  readonly #byNames = new Map<string, number>();
  #last = 0;

  write(headers: Headers, buffer: GrowingBuffer): void {
    if (!this.#fits(headers)) this.#last = this.#shapeOf(headers);
    const names = this.#names[this.#last] ?? [];
    const values = this.#values[this.#last] ?? [];
    let differs = this.#last !== 0;
    if (differs) buffer.varint(this.#last);
    for (let i = 0; i < names.length; i++) {
      const value = headers[names[i] as string] as string;
      if (value === values[i]) continue;
      if (!differs) buffer.varint(this.#last);
      differs = true;
      buffer.varint(i);
      buffer.sizedText(value);
    }
  }

  toJSON(): Shape[] {
    return this.#names.map((names, shape) =>
      names.map((name, i) => [name, this.#values[shape]?.[i] ?? ''] as const),
    );
  }

  #fits(headers: Headers): boolean {
    const names = this.#names[this.#last];
    if (names === undefined) return false;
    let i = 0;
    for (const name in headers) if (names[i++] !== name) return false;
    return i === names.length;
  }

  #shapeOf(headers: Headers): number {
    const names = Object.keys(headers);
    const id = names.join('\n');
    const existing = this.#byNames.get(id);
    if (existing !== undefined) return existing;
    const values = Object.values(headers) as unknown[];
    if (!values.every((value) => typeof value === 'string')) {
      throw new TypeError('The value of a header must be text.');
    }
    this.#byNames.set(id, this.#names.length);
    this.#values.push(values);
    return this.#names.push(names) - 1;
  }
}

/** Reads what `HeaderTableWriter` wrote; the shapes are parsed on first access. */
export class HeaderTable {
  readonly #text: Uint8Array;
  readonly #blocks: Buffer;
  #shapes: readonly Shape[] | null = null;

  constructor(text: Uint8Array, blocks: Buffer) {
    this.#text = text;
    this.#blocks = blocks;
  }

  /** The headers of the message whose block is at [start, end). */
  read(start: number, end: number): Headers {
    this.#shapes ??= JSON.parse(Buffer.from(this.#text).toString()) as Shape[];
    if (start === end) return Object.fromEntries(this.#shapes[0] ?? []);
    const cursor = { at: start };
    const shape = this.#shapes[this.#varint(cursor)] ?? [];
    const headers: Record<string, string> = Object.fromEntries(shape);
    while (cursor.at < end) {
      const name = shape[this.#varint(cursor)]?.[0] ?? '';
      const length = this.#varint(cursor);
      headers[name] = this.#blocks.toString('utf8', cursor.at, cursor.at + length);
      cursor.at += length;
    }
    return headers;
  }

  #varint(cursor: { at: number }): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#blocks[cursor.at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }
}
