import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { TextIndex, textIndexDdl } from '#control-plane/text-index.ts';

/**
 * Search of connections by a part of their text: our terms against SQLite's `trigram`, in turns over the same rows. Times of
 * single searches and of writes, in ms. `node test/bench/text-search.ts [rows]`
 */
const rows = Number(process.argv[2] ?? 100_000);
const rounds = 15;
const limit = 20;
const upTo = 1n << 60n;

const textOf = (n: number): string => {
  const provider = ['github', 'hubspot', 'salesforce', 'slack'][n % 4];
  const id = ((n * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0');
  return `${provider}-main\nuser-${id}\nperson ${n}\nperson.${n}@customer-${n % 977}.example`;
};
/** One environment in a hundred rows is small. */
const environmentOf = (n: number): string => (n % 100 === 7 ? 'small' : 'large');

const table = (name: string): string =>
  `CREATE TABLE ${name} (key TEXT PRIMARY KEY, environment_uid TEXT, search TEXT, position INTEGER) WITHOUT ROWID;`;

const database = new DatabaseSync(':memory:');
database.exec(`
  ${table('own')} ${textIndexDdl('own')}
  ${table('lib')} CREATE INDEX lib_position ON lib (position);
  CREATE VIRTUAL TABLE lib_text USING fts5(
    search, content = '', contentless_delete = 1, tokenize = 'trigram'
  );
`);
const own = new TextIndex(database, 'own');
const put = (name: string): StatementSync =>
  database.prepare(`INSERT OR REPLACE INTO ${name} VALUES (?, ?, ?, ?)`);
const putOwn = put('own');
const putLib = put('lib');
const removeText = database.prepare('DELETE FROM lib_text WHERE rowid = ?');
const putText = database.prepare('INSERT INTO lib_text (rowid, search) VALUES (?, ?)');
const match = database.prepare(
  'SELECT rowid FROM lib_text WHERE lib_text MATCH ? AND rowid <= ? ORDER BY rowid DESC',
);
match.setReadBigInts(true);
const compare = (name: string): StatementSync =>
  database.prepare(
    `SELECT key FROM ${name} WHERE position = ? AND environment_uid = ? AND instr(search, ?) > 0`,
  );
const compareOwn = compare('own');
const compareLib = compare('lib');
const scan = database.prepare(
  'SELECT key FROM lib WHERE environment_uid = ? AND instr(search, ?) > 0 ORDER BY position DESC LIMIT ?',
);

const writeOwn = (n: number, position: number): void =>
  own.during(`k${n}`, () => putOwn.run(`k${n}`, environmentOf(n), textOf(n), position));
function writeLib(n: number, position: number, earlier: number | null): void {
  putLib.run(`k${n}`, environmentOf(n), textOf(n), position);
  if (earlier !== null) removeText.run(earlier);
  putText.run(position, textOf(n));
}

function searchOwn(environment: string, text: string): number {
  let found = 0;
  for (const position of own.positions(environment, text, upTo)) {
    found += compareOwn.all(position, environment, text).length;
    if (found >= limit) break;
  }
  return found;
}
function searchLib(environment: string, text: string): number {
  if (text.length < 3) return scan.all(environment, text, limit).length;
  let found = 0;
  for (const row of match.iterate(`"${text.replaceAll('"', '""')}"`, upTo)) {
    found += compareLib.all(row['rowid'] as bigint, environment, text).length;
    if (found >= limit) break;
  }
  return found;
}

const timed = (task: () => unknown): number => {
  const start = performance.now();
  task();
  return performance.now() - start;
};
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const inTransaction = (task: () => void): void => {
  database.exec('BEGIN');
  task();
  database.exec('COMMIT');
};

const fill = { own: 0, lib: 0 };
const batch = 1000;
for (let from = 0; from < rows; from += batch) {
  const each = (write: (n: number) => void) => () =>
    inTransaction(() => {
      for (let n = from; n < Math.min(rows, from + batch); n += 1) write(n);
    });
  fill.own += timed(each((n) => writeOwn(n, n)));
  fill.lib += timed(each((n) => writeLib(n, n, null)));
}
const micros = (ms: number, count: number): string => `${((ms * 1000) / count).toFixed(1)} µs`;
console.log(`insert: own ${micros(fill.own, rows)}, trigram ${micros(fill.lib, rows)}`);

const searches: readonly (readonly [string, string, string])[] = [
  ['one row, whole text', 'large', 'person.54321@'],
  ['one row, part', 'large', `person ${rows - 77}`],
  ['no row', 'large', 'zzqy-nobody'],
  ['common word', 'large', 'hubspot'],
  ['three characters', 'large', 'sla'],
  ['two characters', 'large', 'zq'],
  ['one character', 'large', '~'],
  ['two common characters', 'large', 'on'],
  ['common word, small environment', 'small', 'person'],
  ['rare there, common elsewhere', 'small', 'hubspot'],
];
for (const [name, environment, text] of searches) {
  const times = { own: [] as number[], lib: [] as number[] };
  let found: readonly number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    let a = 0;
    let b = 0;
    const tasks = [
      () => times.own.push(timed(() => (a = searchOwn(environment, text)))),
      () => times.lib.push(timed(() => (b = searchLib(environment, text)))),
    ];
    for (const task of round % 2 === 0 ? tasks : tasks.toReversed()) task();
    found = [a, b];
  }
  console.log(
    `${name}: own ${median(times.own).toFixed(3)} ms, trigram ${median(times.lib).toFixed(3)} ms (${found.join(' / ')})`,
  );
}

const again = { own: 0, lib: 0 };
const moved = Math.min(rows, 5000);
for (let n = 0; n < moved; n += batch) {
  const each = (write: (n: number) => void) => () =>
    inTransaction(() => {
      for (let at = n; at < Math.min(moved, n + batch); at += 1) write(at);
    });
  again.own += timed(each((at) => writeOwn(at, rows + at)));
  again.lib += timed(each((at) => writeLib(at, rows + at, at)));
}
console.log(`move: own ${micros(again.own, moved)}, trigram ${micros(again.lib, moved)}`);
const bytes = (name: string): number =>
  Number(
    database.prepare(`SELECT sum(length(block)) AS bytes FROM ${name}_text_data`).get()?.[
      'bytes'
    ] ?? 0,
  );
console.log(`index: own ${bytes('own')} bytes, trigram ${bytes('lib')} bytes`);
