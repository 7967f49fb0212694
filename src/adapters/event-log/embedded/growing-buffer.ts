/** Below 128, so that the length is a one-byte varint. */
const asciiMax = 100;

/** An append-only buffer whose memory is reused. */
export class GrowingBuffer {
  #memory: Buffer<ArrayBuffer>;
  length = 0;

  constructor(capacity: number) {
    this.#memory = Buffer.from(new ArrayBuffer(capacity));
  }

  /** The content since `clear`; valid until the next write. */
  get bytes(): Buffer<ArrayBuffer> {
    return this.#memory.subarray(0, this.length);
  }

  /** Discards the content, and also the memory if an unusually large message made it grow. */
  clear(keepBytes = 8 * 1024 ** 2): void {
    this.length = 0;
    if (this.#memory.length > keepBytes) this.#memory = Buffer.from(new ArrayBuffer(keepBytes));
  }

  /** Reserves `length` bytes, to be filled through the view, and returns their start. */
  skip(length: number): number {
    this.#reserve(length);
    const at = this.length;
    this.length += length;
    return at;
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#memory.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Appends the text as UTF-8 and returns the number of bytes. */
  text(text: string): number {
    this.#reserve(text.length * 3);
    if (this.#ascii(text)) return text.length;
    const written = this.#memory.write(text, this.length, 'utf8');
    this.length += written;
    return written;
  }

  /** Appends the number of bytes of the text as a varint, then the text. */
  sizedText(text: string): void {
    this.#reserve(1 + text.length * 3);
    if (text.length <= asciiMax) {
      const at = this.length;
      this.#memory[this.length++] = text.length;
      if (this.#ascii(text)) return;
      this.length = at;
    }
    this.varint(Buffer.byteLength(text));
    this.text(text);
  }

  /** Appends short ASCII text without a call into the platform, which would cost more; otherwise does nothing. */
  #ascii(text: string): boolean {
    const { length } = text;
    if (length > asciiMax) return false;
    const { length: from } = this;
    const memory = this.#memory;
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code >= 0x80) return false;
      memory[from + at] = code;
    }
    this.length += length;
    return true;
  }

  /** Unsigned, 7 bits per byte, the lowest first. */
  varint(value: number): void {
    this.#reserve(5);
    let rest = value;
    while (rest >= 0x80) {
      this.#memory[this.length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#memory[this.length++] = rest;
  }

  uint32(at: number, value: number): void {
    this.#memory.writeUInt32LE(value, at);
  }

  float64(at: number, value: number): void {
    this.#memory.writeDoubleLE(value, at);
  }

  #reserve(length: number): void {
    const needed = this.length + length;
    if (needed <= this.#memory.length) return;
    const larger = Buffer.from(new ArrayBuffer(Math.max(needed, this.#memory.length * 2)));
    this.#memory.copy(larger, 0, 0, this.length);
    this.#memory = larger;
  }
}
