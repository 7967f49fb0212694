import type { UnzipFileInfo } from 'fflate';
import { Buffer } from './buffer.ts';
import { bytesOf } from './text.ts';

/** The part of `unzipper` that works in memory: ZIP archives, without encryption. */

/** Upper bound of the compression ratio of DEFLATE: 258 bytes take at least two bits. */
const ratioMax = 1032;

/** Of a file in the directory of an archive, without its name. */
const entryBytesMin = 46;

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
    const files: ZipFile[] = [];
    await unzip(bytes, (info) => {
      files.push(fileOf(bytes, info, files.length));
      return false;
    });
    return { files };
  },
};

/**
 * Loads the package at the first use: its tables take memory of each isolate.
 * @param isWanted called with each file of the archive in order; only wanted ones are unpacked
 */
async function unzip(
  bytes: Uint8Array,
  isWanted: (info: UnzipFileInfo) => boolean,
): Promise<Record<string, Uint8Array<ArrayBuffer>>> {
  const { unzipSync } = await import('fflate');
  // The number of files is only what the archive says: the package would read on behind its end.
  let left = Math.floor(bytes.length / entryBytesMin);
  const filter = (info: UnzipFileInfo): boolean => {
    if (--left < 0) throw new Error('more files are listed than it has room for');
    return isWanted(info);
  };
  try {
    return unzipSync(bytes, { filter });
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(`This is not a ZIP archive, or it is broken: ${message}.`, { cause });
  }
}

function fileOf(bytes: Uint8Array, info: UnzipFileInfo, index: number): ZipFile {
  const { name: path, size, originalSize, compression } = info;
  return {
    path,
    type: path.endsWith('/') ? 'Directory' : 'File',
    compressedSize: size,
    uncompressedSize: originalSize,
    compressionMethod: compression,
    async buffer() {
      // The size is only what the archive says: it must not allocate more than the data can become.
      const isPossible = originalSize <= size * ratioMax;
      let at = 0;
      const unpacked = isPossible ? (await unzip(bytes, () => at++ === index))[path] : undefined;
      if (unpacked?.length === originalSize) {
        return Buffer.from(unpacked.buffer, unpacked.byteOffset, unpacked.length);
      }
      throw new Error(`${path} cannot be unpacked: it is broken or encrypted.`);
    },
    stream() {
      throw new Error('Streams are not supported: await buffer() instead of stream().');
    },
  };
}
