/** Changes over HTTP to one consumer, by pages and as lines: `changes.ts <plain|sealed> [records]`. */
import { Agent, request } from 'undici';
import { report, seconds, withFolder } from './measure.ts';
import { decided, newOrigin, readable, startNode, type BenchNode } from './node.ts';
import { contact } from './payloads.ts';

const [mode = 'plain', count = '100000'] = process.argv.slice(2);
const total = Number(count);
const batchSize = 1000;
const agent = new Agent({ connections: 1, pipelining: 1 });

async function fill(node: BenchNode): Promise<void> {
  const { writer } = node.running.services.records;
  const stream = await node.newStream();
  const origin = newOrigin();
  for (let first = 0; first < total; first += batchSize) {
    const batch = Array.from({ length: batchSize }, (_, at) => contact(first + at, 0));
    await writer.save(stream, origin, batch);
  }
  await readable(node, await decided(node, stream, origin));
}

const get = (node: BenchNode, path: string, accept = 'application/json') =>
  request(`${node.url}${path}`, {
    headers: { authorization: `Bearer ${node.key}`, accept },
    dispatcher: agent,
  });

/** Every change by pages of this size; also commits each, of a subscription. */
async function byPages(node: BenchNode, path: string, limit: number): Promise<number> {
  let changes = 0;
  const took = await seconds(async () => {
    for (let cursor = '', hasMore = true; hasMore;) {
      const at = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await get(node, `${path}?limit=${limit}${at}`);
      const page = (await body.json()) as { changes: object[]; cursor: string; has_more: boolean };
      changes += page.changes.length;
      ({ cursor, has_more: hasMore } = page);
    }
  });
  if (changes !== total) throw new Error(`read ${changes} of ${total} changes`);
  return Math.round(changes / took);
}

async function byLines(node: BenchNode): Promise<number> {
  let changes = 0;
  const took = await seconds(async () => {
    const { body } = await get(node, '/changes/stream', 'application/x-ndjson');
    let rest = '';
    for await (const piece of body.setEncoding('utf8') as AsyncIterable<string>) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      changes += lines.filter((line) => !line.startsWith('{"cursor"')).length;
      if (changes >= total) break;
    }
  });
  return Math.round(changes / took);
}

await withFolder(async (folder) => {
  await using node = await startNode(folder, mode === 'sealed' ? 'sealed' : 'plain');
  await fill(node);
  // The first walk warms up.
  await byPages(node, '/changes', 1_000);
  report({
    pages_100_changes_per_s: await byPages(node, '/changes', 100),
    pages_1000_changes_per_s: await byPages(node, '/changes', 1_000),
    pages_10000_changes_per_s: await byPages(node, '/changes', 10_000),
    lines_changes_per_s: await byLines(node),
  });
  await agent.close();
});
