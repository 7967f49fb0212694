/** The part of `unzipper` that functions can use: ZIP archives, in memory and not encrypted. */
declare module 'unzipper' {
  export interface ZipFile {
    /** Includes the folders. */
    readonly path: string;
    readonly type: 'File' | 'Directory';
    /** Bytes in the archive. */
    readonly compressedSize: number;
    readonly uncompressedSize: number;
    /** The unpacked bytes. Rejects encrypted or broken files. */
    buffer(): Promise<Buffer>;
  }

  export const Open: {
    /** The files of the archive. Rejects anything that is no archive. */
    buffer(archive: Uint8Array): Promise<{ readonly files: readonly ZipFile[] }>;
  };

  const unzipper: { readonly Open: typeof Open };
  export default unzipper;
}
