/** Bytes written one after the other into memory that is kept for the next use. */
export class GrowingBuffer {
  private memory: Buffer<ArrayBuffer>;
  length = 0;

  constructor(capacity: number) {
    this.memory = Buffer.from(new ArrayBuffer(capacity));
  }

  /** What was written since `clear`; valid until the next write. */
  get bytes(): Buffer<ArrayBuffer> {
    return this.memory.subarray(0, this.length);
  }

  /** Forgets the content, and the memory too where an unusually large message made it grow. */
  clear(keepBytes = 8 * 1024 ** 2): void {
    this.length = 0;
    if (this.memory.length > keepBytes) this.memory = Buffer.from(new ArrayBuffer(keepBytes));
  }

  /** Leaves room for `length` bytes, to be filled through the view, and returns where they begin. */
  skip(length: number): number {
    this.reserve(length);
    const at = this.length;
    this.length += length;
    return at;
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.memory.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Appends the text as UTF-8 and returns the number of bytes. */
  text(text: string): number {
    this.reserve(text.length * 3);
    const written = this.memory.write(text, this.length, 'utf8');
    this.length += written;
    return written;
  }

  /** Unsigned, 7 bits per byte, the lowest first. */
  varint(value: number): void {
    this.reserve(5);
    let rest = value;
    while (rest >= 0x80) {
      this.memory[this.length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.memory[this.length++] = rest;
  }

  uint32(at: number, value: number): void {
    this.memory.writeUInt32LE(value, at);
  }

  float64(at: number, value: number): void {
    this.memory.writeDoubleLE(value, at);
  }

  private reserve(length: number): void {
    const needed = this.length + length;
    if (needed <= this.memory.length) return;
    const larger = Buffer.from(new ArrayBuffer(Math.max(needed, this.memory.length * 2)));
    this.memory.copy(larger, 0, 0, this.length);
    this.memory = larger;
  }
}
