import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { splitKey } from '#kernel/ids.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import { PayloadOpener } from '#modules/records/model/sealed-payload.ts';
import { noPayload } from '#modules/records/owner/decisions/round.ts';
import { createAtRestEncryption } from '#modules/records/owner/encryption.ts';
import { Payloads } from '#modules/records/owner/state/payloads.ts';

type OpeningVault = Pick<Vault, 'sealBytes' | 'openBytes'>;

/** What the state stores of a folder hold, by partition; the numbers of streams are their own. */
export function dumpStores(
  folder: string,
  vault: OpeningVault,
): Record<string, ReturnType<typeof dump>> {
  const files = readdirSync(folder).filter((name) => /^records-\d+\.db$/.test(name));
  return Object.fromEntries(files.sort().map((file) => [file, dump(join(folder, file), vault)]));
}

function dump(file: string, vault: OpeningVault) {
  const db = new DatabaseSync(file, { readOnly: true });
  const rows = (sql: string) =>
    db
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  const tables = {
    records:
      rows(`SELECT key, records.id, hash, position, version, first_seen_at, modified_at, deleted_at,
      pruned_at FROM records JOIN streams ON no = stream ORDER BY key, records.id`),
    payloads: rows('SELECT no, key FROM streams ORDER BY key').map(({ no, key }) => ({
      key,
      payloads: payloadsOf(db, vault, { no: Number(no), key: String(key) }),
    })),
    heads: rows('SELECT key, hex(head) AS head FROM streams WHERE head IS NOT NULL ORDER BY key'),
  };
  db.close();
  return tables;
}

/** Blocks of the same payloads may differ, and what an owner sealed with others a restored store has by itself. */
function payloadsOf(db: DatabaseSync, vault: OpeningVault, stream: { no: number; key: string }) {
  const payloads = new Payloads(db, createAtRestEncryption(vault));
  const opener = new PayloadOpener(vault);
  const { no, key } = stream;
  const owner = { key, connectionUid: splitKey(key)[1] ?? '' };
  const all = payloads.placed(no, 0, Number.MAX_SAFE_INTEGER, Infinity, false);
  const found = payloads.read(
    no,
    all.map(({ position }) => position),
  );
  return all.map(({ position, id }) => {
    const { bytes, encoding } = found.get(position) ?? noPayload;
    if (bytes === null) return { position, id, text: null, isPlain: false };
    const json = encoding === 'secret' ? 'json' : encoding;
    const opened = opener.open(owner, { recordId: id, encoding: json, bytes });
    return { position, id, text: opened.toString(), isPlain: encoding === 'json' };
  });
}
