/** The part of `unzipper` that functions have: archives of the format ZIP, in memory and not encrypted. */
declare module 'unzipper' {
  export interface ZipFile {
    /** With the folders that it lies in. */
    readonly path: string;
    readonly type: 'File' | 'Directory';
    /** Bytes in the archive. */
    readonly compressedSize: number;
    readonly uncompressedSize: number;
    /** The unpacked bytes. Rejects what is encrypted or broken. */
    buffer(): Promise<Buffer>;
  }

  export const Open: {
    /** The files of the archive. Rejects what is no archive. */
    buffer(archive: Uint8Array): Promise<{ readonly files: readonly ZipFile[] }>;
  };

  const unzipper: { readonly Open: typeof Open };
  export default unzipper;
}
