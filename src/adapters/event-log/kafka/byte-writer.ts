/** An append-only buffer for the Kafka protocol whose memory is reused. */
export class ByteWriter {
  #memory = Buffer.allocUnsafe(64 * 1024);
  length = 0;

  /** A copy of what was written. */
  copy(): Buffer {
    return Buffer.from(this.#memory.subarray(0, this.length));
  }

  /** The content, valid until the next write. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.length);
  }

  /** Discards the content, and also the memory if an unusually large message made it grow. */
  clear(keepBytes = 4 * 1024 ** 2): void {
    this.length = 0;
    if (this.#memory.length > keepBytes) this.#memory = Buffer.allocUnsafe(keepBytes);
  }

  zero(): void {
    this.#reserve(1);
    this.#memory[this.length++] = 0;
  }

  /** A signed whole number below 2^52: zigzag, 7 bits per byte, the lowest first. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value >= 0 ? value * 2 : -value * 2 - 1;
    while (rest >= 0x80) {
      this.#memory[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#memory[this.length++] = rest;
  }

  /** Length and UTF-8. */
  text(text: string): void {
    const length = Buffer.byteLength(text);
    this.varint(length);
    this.#reserve(length);
    this.length += this.#memory.write(text, this.length, 'utf8');
  }

  /** Length and bytes; -1 for null. */
  data(bytes: Uint8Array | null): void {
    this.varint(bytes?.length ?? -1);
    if (bytes === null) return;
    this.#reserve(bytes.length);
    this.#memory.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Prefixes the output of `write` with its length. */
  sized(write: () => void): void {
    this.#reserve(lengthBytesMax);
    const at = this.length;
    this.length += lengthBytesMax;
    write();
    const length = this.length - at - lengthBytesMax;
    this.length = at;
    this.varint(length);
    this.#memory.copyWithin(this.length, at + lengthBytesMax, at + lengthBytesMax + length);
    this.length += length;
  }

  #reserve(length: number): void {
    const needed = this.length + length;
    if (needed <= this.#memory.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#memory.length * 2));
    this.#memory.copy(larger, 0, 0, this.length);
    this.#memory = larger;
  }
}

const lengthBytesMax = 5;
