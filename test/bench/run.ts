/**
 * `npm run bench`: every workload in a process of its own, floors first, then figures, ratios to the floors
 * and the recorded baseline side by side. `--record` writes the baseline, `--quick` uses fewer records,
 * `--only=plain` or `--only=sealed` the records of one payload mode, `--only=rebuild`, `--only=repartition`,
 * `--only=kafka`, `--only=restore`, `--only=compile`, `--only=functions`, `--only=sync`, `--only=webhooks`,
 * `--only=console`, `--only=growth`, `--only=start`, `--only=memory`;
 * `--no-many` leaves out the 2,000,000.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { workload, type Figures } from './measure.ts';

const options = new Set(process.argv.slice(2));
const isQuick = options.has('--quick');
const records = isQuick ? 50_000 : 200_000;
const manyRecords = isQuick ? 200_000 : 2_000_000;
const modes = ['plain', 'sealed'];
const isAll = ![...options].some((option) => option.startsWith('--only='));
const isWanted = (part: string): boolean => isAll || options.has(`--only=${part}`);
const baselineFile = fileURLToPath(new URL('./baseline.json', import.meta.url));

/** Percent of the floor, for the figures that the targets name as ratios. */
function ratios(floors: Figures, saves: Figures): Figures {
  const raw = floors['raw_appends_per_s'] ?? Number.NaN;
  const inserts = floors['client_inserts_per_s'] ?? Number.NaN;
  const percent = (value: number | undefined, floor: number) =>
    Math.round((1000 * (value ?? 0)) / floor) / 10;
  return {
    acknowledged_1_pct_of_raw: percent(saves['save_1_acknowledged_per_s'], raw),
    acknowledged_4_pct_of_raw: percent(saves['save_4_acknowledged_per_s'], raw),
    decided_1_pct_of_raw: percent(saves['save_1_decided_per_s'], raw),
    decided_4_pct_of_raw: percent(saves['save_4_decided_per_s'], raw),
    readable_1_pct_of_inserts: percent(saves['save_1_readable_per_s'], inserts),
    readable_4_pct_of_inserts: percent(saves['save_4_readable_per_s'], inserts),
    unchanged_pct_of_raw: percent(saves['unchanged_decided_per_s'], raw),
    merge_pct_of_raw: percent(saves['merge_decided_per_s'], raw),
  };
}

function prefixed(prefix: string, figures: Figures): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [`${prefix}.${name}`, value]),
  );
}

const results: Record<string, number> = {};
for (const mode of modes.filter(isWanted)) {
  const floors = workload('floors', records);
  const saves = workload('saves', mode, records);
  Object.assign(
    results,
    prefixed(mode, { ...floors, ...saves, ...ratios(floors, saves) }),
    prefixed(`${mode}.pages_${records}`, workload('pages', mode, records)),
    prefixed(mode, workload('latency', mode, isQuick ? 10 : 30)),
  );
  if (options.has('--no-many')) continue;
  const many = workload('pages', mode, manyRecords);
  Object.assign(results, prefixed(`${mode}.pages_${manyRecords}`, many));
}

if (isWanted('repartition')) {
  Object.assign(results, prefixed('repartition', workload('repartition', records, 4, 8)));
  Object.assign(results, prefixed('reads_go_on', workload('reads-go-on', records, 4, 8)));
}

if (isWanted('rebuild')) {
  const rebuilt = options.has('--no-many') ? records : manyRecords;
  for (const mode of modes) {
    Object.assign(
      results,
      prefixed(`${mode}.rebuild_${rebuilt}`, workload('rebuild', mode, rebuilt)),
    );
  }
}
if (isWanted('kafka')) Object.assign(results, prefixed('kafka', workload('kafka', records)));
if (isWanted('restore')) {
  for (const log of ['embedded', 'kafka']) {
    Object.assign(results, prefixed(`restore.${log}`, workload('restore', log, records)));
  }
}
if (isWanted('sync')) {
  for (const mode of modes) {
    Object.assign(results, prefixed(mode, workload('sync', mode, isQuick ? 10_000 : 20_000)));
  }
}
if (isWanted('webhooks')) {
  Object.assign(results, prefixed('webhooks', workload('webhooks', isQuick ? 2_000 : 5_000)));
}
if (isWanted('console')) {
  const sizes = isQuick ? [2_000, 10_000, 20, 1] : [10_000, 100_000, 60, 2];
  Object.assign(results, prefixed('console', workload('console', ...sizes)));
}
if (isWanted('growth')) {
  const growth = workload('growth', ...(isQuick ? ['--quick'] : []));
  Object.assign(results, prefixed('growth', growth));
}
if (isWanted('start'))
  Object.assign(results, prefixed('gateway', workload('start', isQuick ? 3 : 5)));
if (isWanted('memory')) Object.assign(results, prefixed('gateway', workload('memory')));
if (isWanted('compile')) Object.assign(results, prefixed('compile', workload('compile', 50)));

if (isWanted('functions')) {
  for (const more of [[], ['--kafka']]) {
    Object.assign(results, prefixed('functions', workload('functions', '--runs=200', ...more)));
  }
}

const baseline = JSON.parse(readFileSync(baselineFile, 'utf8')) as { figures: Figures };
for (const [name, value] of Object.entries(results)) {
  console.error(
    `${name.padEnd(54)} ${String(value).padStart(10)}   baseline ${String(baseline.figures[name] ?? '-').padStart(10)}`,
  );
}
if (options.has('--record')) {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`;
  writeFileSync(
    baselineFile,
    `${JSON.stringify({ machine, node: process.version, figures: { ...baseline.figures, ...results } }, null, 2)}\n`,
  );
}
console.log(JSON.stringify(results));
