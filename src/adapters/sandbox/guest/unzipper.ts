import { Buffer } from './buffer.ts';
import { inflate } from './inflate.ts';
import { bytesOf, latin1Decode, utf8Decode } from './text.ts';

/** The part of `unzipper` that works in memory: ZIP archives, without encryption. */

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const fileSignature = 0x04034b50;
const endBytes = 22;
const entryBytes = 46;
const fileBytes = 30;
const commentBytesMax = 0xffff;
/** Marks sizes and positions in ZIP64 fields: four gigabytes do not fit an isolate. */
const elsewhere = 0xffffffff;
const encryptedFlag = 1;
const utf8Flag = 0x800;
const methods = { stored: 0, deflated: 8 } as const;

interface ZipFile {
  readonly path: string;
  readonly type: 'File' | 'Directory';
  readonly compressedSize: number;
  readonly uncompressedSize: number;
  readonly compressionMethod: number;
  /** The unpacked bytes. */
  buffer(): Promise<Buffer>;
  /** @throws Error always: there are no streams here */
  stream(): never;
}

export const Open = {
  /** The files of an archive. @throws Error if it is none, or of an unsupported kind */
  async buffer(archive: unknown): Promise<{ readonly files: readonly ZipFile[] }> {
    const bytes = bytesOf(archive);
    if (bytes === null) throw new TypeError('Open.buffer takes the bytes of an archive');
    return { files: filesOf(bytes) };
  },
};

const broken = (): Error => new Error('This is not a ZIP archive, or it is broken.');

function filesOf(bytes: Uint8Array): ZipFile[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = endOf(view);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  if (at === elsewhere) throw new Error('Archives of the format ZIP64 cannot be read.');
  const files: ZipFile[] = [];
  for (let left = count; left > 0; left--) {
    if (at + entryBytes > bytes.length || view.getUint32(at, true) !== entrySignature) {
      throw broken();
    }
    const nameBytes = view.getUint16(at + 28, true);
    files.push(fileAt(bytes, view, at, nameBytes));
    const more = view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    at += entryBytes + nameBytes + more;
  }
  return files;
}

/** Position of the end record of an archive; a comment may follow it. */
function endOf(view: DataView): number {
  const last = view.byteLength - endBytes;
  for (let at = last; at >= Math.max(0, last - commentBytesMax); at--) {
    if (view.getUint32(at, true) === endSignature) return at;
  }
  throw broken();
}

function fileAt(bytes: Uint8Array, view: DataView, at: number, nameBytes: number): ZipFile {
  const flags = view.getUint16(at + 8, true);
  const compressionMethod = view.getUint16(at + 10, true);
  const compressedSize = view.getUint32(at + 20, true);
  const uncompressedSize = view.getUint32(at + 24, true);
  const start = view.getUint32(at + 42, true);
  const name = bytes.subarray(at + entryBytes, at + entryBytes + nameBytes);
  const path = (flags & utf8Flag) === 0 ? latin1Decode(name) : utf8Decode(name);
  return {
    path,
    type: path.endsWith('/') ? 'Directory' : 'File',
    compressedSize,
    uncompressedSize,
    compressionMethod,
    async buffer() {
      if ((flags & encryptedFlag) !== 0) throw new Error(`${path} is encrypted.`);
      const packed = packedAt(bytes, view, start, compressedSize);
      if (compressionMethod === methods.stored) return Buffer.from(packed);
      if (compressionMethod !== methods.deflated) {
        throw new Error(`${path} has an unsupported compression method (${compressionMethod}).`);
      }
      return Buffer.from(inflate(packed, uncompressedSize).buffer);
    },
    stream() {
      throw new Error('Streams are not supported: await buffer() instead of stream().');
    },
  };
}

function packedAt(bytes: Uint8Array, view: DataView, at: number, size: number): Uint8Array {
  if (at + fileBytes > bytes.length || view.getUint32(at, true) !== fileSignature) throw broken();
  const from = at + fileBytes + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  if (from + size > bytes.length) throw broken();
  return bytes.subarray(from, from + size);
}
