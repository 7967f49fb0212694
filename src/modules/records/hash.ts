import { hash } from 'node:crypto';

/** 128 bits as hex. */
export const hashChars = 32;

/** Keyed hash of a payload's text: a plain hash of short data could be guessed (design section 4). */
export type RecordHash = (environmentUid: string, text: string) => string;

/** `fingerprint` is the vault's: its key gives each environment one of its own. */
export function createRecordHash(
  fingerprint: (purpose: string, text: string) => string,
): RecordHash {
  const keys = new Map<string, string>();
  return (environmentUid, text) => {
    let key = keys.get(environmentUid);
    if (key === undefined) {
      key = fingerprint('record-payload', environmentUid);
      keys.set(environmentUid, key);
    }
    return hash('sha256', key + text, 'hex').slice(0, hashChars);
  };
}
