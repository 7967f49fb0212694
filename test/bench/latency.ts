/** Save to readable at 1,000 rows/s, in batches of 10 every 10 ms: `latency.ts <plain|sealed> [seconds]`. */
import { setTimeout as wait } from 'node:timers/promises';
import { percentile, report, round, withFolder } from './measure.ts';
import { newOrigin, startNode } from './node.ts';
import { contact } from './payloads.ts';

const [mode = 'plain', duration = '30'] = process.argv.slice(2);
const batchSize = 10;
const everyMs = 10;

await withFolder(async (folder) => {
  await using node = await startNode(folder, mode === 'sealed' ? 'sealed' : 'plain');
  const { writer, reader } = node.running.services.records;
  const stream = await node.newStream();
  const origin = newOrigin();
  const savedAt: number[] = [];
  const visibleAfter: number[] = [];
  const batches = (Number(duration) * 1000) / everyMs;
  const started = performance.now();

  const reading = (async () => {
    let seen = 0;
    for (let cursor: string | null = null; seen < batches * batchSize;) {
      const page = await reader.page({
        stream,
        cursor,
        modifiedAfter: null,
        actions: null,
        ids: null,
        limit: 1000,
      });
      const now = performance.now();
      const text = Buffer.from(page.body).toString();
      for (let index = 0; index < page.records; index += 1, seen += 1) {
        if (seen % batchSize === 0) visibleAfter.push(now - (savedAt[seen / batchSize] ?? now));
      }
      cursor = /.*"cursor":"([^"]+)"/s.exec(text)?.[1] ?? cursor;
      if (page.nextCursor === null) await wait(2);
    }
  })();

  for (let batch = 0; batch < batches; batch += 1) {
    const due = started + batch * everyMs - performance.now();
    if (due > 0) await wait(due);
    savedAt.push(performance.now());
    await writer.save(
      stream,
      origin,
      Array.from({ length: batchSize }, (_, at) => contact(batch * batchSize + at)),
    );
  }
  await reading;
  report({
    save_to_readable_ms_p50: round(percentile(visibleAfter, 50)),
    save_to_readable_ms_p99: round(percentile(visibleAfter, 99)),
  });
});
