/** `snapshot-process.ts store copy`: copies a state store that is in use, and prints the SHA-256 of the copy. */
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fsyncSync, openSync } from 'node:fs';
import { setPriority } from 'node:os';
import { argv, stdout, umask } from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';

const [, , store = '', copy = ''] = argv;
setPriority(10);
umask(0o077);
const db = new DatabaseSync(store, { readOnly: true, timeout: 30_000 });
db.prepare('VACUUM INTO ?').run(copy);
db.close();
// The copy is not cached by SQLite but by the system.
const file = openSync(copy, 'r+');
fsyncSync(file);
closeSync(file);
const hash = createHash('sha256');
await pipeline(createReadStream(copy), hash);
stdout.write(hash.digest('hex'));
