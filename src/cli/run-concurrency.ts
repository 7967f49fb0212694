import type { Answer, Client } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { showRows } from './columns.ts';
import type { Context } from './context.ts';
import { usageError } from './exit.ts';

interface ConcurrencyOptions {
  readonly off?: boolean;
  readonly json?: boolean;
}

/** `svc runs concurrency`: sets how many runs of a function a connection has at the same time, or shows what waits. */
export async function runConcurrency(
  context: Context,
  client: Client,
  [target = '', number]: readonly string[],
  { off = false, json = false }: ConcurrencyOptions,
): Promise<void> {
  const { output } = context;
  const [uniqueKey = '', name = ''] = target.split('/');
  if (name === '')
    throw usageError('runs concurrency takes <integration>/<function>, as crm/contacts');
  const params = { uniqueKey, name };
  const found = await client.request('GET /integrations/{uniqueKey}/functions/{name}', { params });
  const query = { type: found.data.type };
  if (number === undefined && !off) {
    const queue = await client.request('GET /integrations/{uniqueKey}/functions/{name}/queue', {
      params,
      query,
    });
    if (json) output.result(JSON.stringify(queue));
    else await showQueue(context, queue.data);
    return;
  }
  const concurrency = off ? null : Number(number);
  if (concurrency !== null && !Number.isInteger(concurrency))
    throw usageError(`runs concurrency takes a whole number, not ${number}`);
  const changed = await client.request(
    'PUT /integrations/{uniqueKey}/functions/{name}/concurrency',
    { params, query, body: { concurrency } },
  );
  if (json) output.result(JSON.stringify(changed));
  else output.result(`${target}: ${inWords(changed.data.concurrency)}`);
}

const inWords = (concurrency: number | null): string =>
  concurrency === null
    ? 'no limit of its own for runs at the same time'
    : `at most ${counted(concurrency, 'run')} at the same time on each connection`;

async function showQueue(
  context: Context,
  queue: Answer<'GET /integrations/{uniqueKey}/functions/{name}/queue'>['data'],
): Promise<void> {
  context.output.result(`${inWords(queue.concurrency)}; ${counted(queue.waiting, 'run')} waiting`);
  const heads = ['connection', 'running', 'waiting', 'next'];
  await showRows(context, false, queue.connections, heads, (one) => [
    one.connection_id,
    one.running.length,
    one.waiting,
    one.next[0] ?? '',
  ]);
}
