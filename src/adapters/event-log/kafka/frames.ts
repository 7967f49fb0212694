const lengthBytes = 4;
const correlationBytes = 4;
/** The default request limit of brokers. A larger frame: the peer does not speak Kafka's protocol. */
const frameBytesMax = 100 * 1024 ** 2;

/** Splits received bytes into responses: a length (int32), then that many bytes. */
export class Frames {
  private chunks: Buffer[] = [];
  private buffered = 0;
  private needed = lengthBytes;

  /** The responses that the chunk completes, without their length. @throws Error when the length is invalid */
  add(chunk: Buffer): Buffer[] {
    this.chunks.push(chunk);
    this.buffered += chunk.length;
    const frames: Buffer[] = [];
    while (this.buffered >= this.needed) {
      const bytes = this.joined();
      const end = lengthBytes + frameLength(bytes);
      if (bytes.length < end) {
        this.keep(bytes, end);
        break;
      }
      frames.push(bytes.subarray(lengthBytes, end));
      this.keep(bytes.subarray(end), lengthBytes);
    }
    return frames;
  }

  private joined(): Buffer {
    const [first] = this.chunks;
    return first !== undefined && this.chunks.length === 1 ? first : Buffer.concat(this.chunks);
  }

  private keep(bytes: Buffer, needed: number): void {
    this.chunks = bytes.length === 0 ? [] : [bytes];
    this.buffered = bytes.length;
    this.needed = needed;
  }
}

function frameLength(bytes: Buffer): number {
  const length = bytes.readInt32BE(0);
  if (length >= correlationBytes && length <= frameBytesMax) return length;
  throw new Error(`an answer of ${length} bytes is none of Kafka's protocol`);
}
