/** Primary result codes of SQLite (sqlite.org/rescode.html): CORRUPT and NOTADB. */
const corruptionCodes = new Set([11, 26]);

/** Whether SQLite reported a file that is no database, or a corrupt one. */
export function isDatabaseCorruption(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  // The low byte of an extended code.
  return typeof error.errcode === 'number' && corruptionCodes.has(error.errcode & 0xff);
}
