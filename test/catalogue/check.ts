/**
 * `npm run catalogue:check`: what is due in the facts of the catalog (src/modules/connections/providers/README.md).
 * It fails where a version ends soon, a pinned version has no facts, a difference no decision, a needed field no two sources and no page of the provider, or a limit of requests no page. An argument such as `2027-06-01` moves the clock.
 */
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import {
  certaintyOf,
  contradictedConfirmations,
  factsByEntry,
  undocumentedFields,
  weakEntries,
} from './confirmations.ts';
import { contradictedDecisions, differences, undecidedDifferences } from './differences.ts';
import { dueVersions, noticeDays, readFacts, unmatchedVersions, versionRows } from './facts.ts';
import { rateLimitProblems } from './lints.ts';
import { pinnedVersions } from './pinned-versions.ts';

const [date] = process.argv.slice(2);
const now = date === undefined ? Date.now() : Date.parse(date);
if (Number.isNaN(now)) throw new Error(`Not a date: ${date}. Give one such as 2027-06-01.`);
const facts = readFacts();
const rows = versionRows(facts);
const due = dueVersions(rows, now);
const providers = loadCatalogue({ overlayPath: null }).all();
const pins = providers.flatMap(pinnedVersions);
const { withoutRow, withoutPin } = unmatchedVersions(pins, rows);
const unread = rows.filter(({ checked_at: at }) => at === null);
const undecided = undecidedDifferences(differences, facts);
const contradicted = contradictedDecisions(differences, facts, providers);

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
section('Differences without a decision', undecided);
const unlike = contradictedConfirmations(providers, facts);
const weak = weakEntries(providers, facts);
section('Confirmations of another value than the entry has', unlike);
section('Entries whose addresses or key one source alone confirms, or none', weak);
const unproven = rateLimitProblems(providers, facts);
section('Limits of requests without their page, or unlike it', unproven);
section('Undocumented', undocumentedFields(providers, facts));
section('Decisions that their entries contradict', contradicted);
console.log(
  `Versions whose documentation has not been read yet: ${unread.length} of ${rows.length}`,
);
const byEntry = factsByEntry(facts);
const fields = [...byEntry.values()].flatMap(({ confirmed = {} }) => Object.values(confirmed));
const bySingle = fields.filter(({ sources, page }) => page === undefined && sources === 1);
console.log(`Fields that one source alone confirms: ${bySingle.length} of ${fields.length}`);
const stated = [...byEntry.values()].flatMap(({ rate_limit: limit = [] }) => limit);
const quoted = stated.filter(({ quoted_by: sources }) => sources !== undefined);
console.log(`Limits of requests: ${stated.length}, ${quoted.length} of them by quotations`);
const counts = (title: string, names: readonly string[]): void => {
  const numbers = Map.groupBy(names, (name) => name);
  const rows = [...numbers].map(([name, { length }]) => ({ name, length }));
  const listed = rows.toSorted((a, b) => b.length - a.length);
  console.log(`${title}: ${listed.map(({ name, length }) => `${name} ${length}`).join(', ')}`);
};
console.log(`Entries: ${providers.length}`);
counts(
  'By category',
  providers.map(({ categories: [first = 'none'] }) => first),
);
counts(
  'By mode',
  providers.map(({ auth_mode: mode }) => mode),
);
counts(
  'By certainty of addresses and key',
  providers.map((provider) => certaintyOf(provider, byEntry.get(provider.name))),
);
const problems = [due, withoutRow, withoutPin, undecided, contradicted, unlike, weak, unproven];
process.exitCode = problems.some(({ length }) => length > 0) ? 1 : 0;
