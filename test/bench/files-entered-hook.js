/**
 * Loaded into every thread and process of a gateway by `files-entered.ts`: on each mark in the folder it writes which
 * functions of which files ran since the mark before.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';

const folder = process.env['SVC_BENCH_MARKS'] ?? '';
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

let mark = 1;
setInterval(() => {
  if (!existsSync(join(folder, `mark-${mark}`))) return;
  session.post('Profiler.takePreciseCoverage', (_, { result }) => {
    const scripts = result.filter(
      ({ url }) => /^file:.*\/(src|streams)\//.test(url) && !url.includes('/node_modules/'),
    );
    const entered = scripts.filter(({ functions }) =>
      functions.some(({ ranges: [range] }) => range.startOffset > 0 && range.count > 0),
    );
    const file = join(folder, `entered-${mark}-${process.pid}-${threadId}.json`);
    writeFileSync(file, JSON.stringify(entered.map(({ url }) => url)));
  });
  mark += 1;
}, 20).unref();
