/**
 * `npm run catalogue:check`: what is due in the facts of the catalog (src/modules/connections/providers/README.md).
 * It fails where a version ends soon, or a pinned version has no facts. An argument such as `2027-06-01` moves the clock.
 */
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import { dueVersions, noticeDays, readFacts, unmatchedVersions, versionRows } from './facts.ts';
import { pinnedVersions } from './pinned-versions.ts';

const [date] = process.argv.slice(2);
const now = date === undefined ? Date.now() : Date.parse(date);
if (Number.isNaN(now)) throw new Error(`Not a date: ${date}. Give one such as 2027-06-01.`);
const facts = readFacts();
const rows = versionRows(facts);
const due = dueVersions(rows, now);
const pins = loadCatalogue({ overlayPath: null }).all().flatMap(pinnedVersions);
const { withoutRow, withoutPin } = unmatchedVersions(pins, rows);
const unread = rows.filter(({ checked_at: at }) => at === null);
const open = [...facts.values()].flatMap((entries) =>
  Object.entries(entries).flatMap(([entry, { decisions = [] }]) =>
    decisions.filter(({ outcome }) => outcome === 'open').map(({ field }) => `${entry} ${field}`),
  ),
);

const section = (title: string, lines: readonly string[]): void => {
  console.log(`${title}: ${lines.length}`);
  for (const line of lines) console.log(`  ${line}`);
};
section(
  `Versions that end within ${noticeDays} days of ${new Date(now).toISOString().slice(0, 10)}`,
  due.map((row) => `${row.entry} ${row.version} ends ${row.expires_at}: ${row.source}`),
);
section('Pinned versions without facts', withoutRow);
section('Facts without a pinned version', withoutPin);
section('Decisions that await the documentation', open);
console.log(
  `Versions whose documentation has not been read yet: ${unread.length} of ${rows.length}`,
);
process.exitCode = due.length + withoutRow.length + withoutPin.length > 0 ? 1 : 0;
