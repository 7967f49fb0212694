import { hash } from 'node:crypto';

/** 128 bits as hex. */
const hashChars = 32;

/** Keyed hash of a payload, JSON in UTF-8: a plain hash of short data could be guessed. */
export type RecordHash = (environmentUid: string, json: Uint8Array) => string;

/** `fingerprint` is the vault's: its key gives each environment one of its own. */
export function createRecordHash(
  fingerprint: (purpose: string, text: string) => string,
): RecordHash {
  const keys = new Map<string, Buffer>();
  /** The key and the payload behind it, in memory that is used again. */
  let keyed = Buffer.alloc(4096);
  return (environmentUid, json) => {
    let key = keys.get(environmentUid);
    if (key === undefined) {
      key = Buffer.from(fingerprint('record-payload', environmentUid));
      keys.set(environmentUid, key);
    }
    const length = key.length + json.length;
    if (keyed.length < length) keyed = Buffer.alloc(2 * length);
    keyed.set(key);
    keyed.set(json, key.length);
    return hash('sha256', keyed.subarray(0, length), 'hex').slice(0, hashChars);
  };
}
