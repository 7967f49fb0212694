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
async function runConcurrency(
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

interface DebounceOptions extends ConcurrencyOptions {
  readonly 'max-wait'?: string;
  readonly all?: boolean;
}

/** `svc runs debounce`: sets how webhooks are joined that start runs of a sync. */
async function debounceWebhooks(
  { output }: Context,
  client: Client,
  [target = '', seconds]: readonly string[],
  { off = false, json = false, all = false, 'max-wait': maxWait = '60' }: DebounceOptions,
): Promise<void> {
  const [uniqueKey = '', name = ''] = target.split('/');
  if (name === '' || (seconds === undefined) !== off)
    throw usageError('runs debounce takes <integration>/<sync> and seconds, or --off');
  const [wait, longest] = [Number(seconds), Number(maxWait)];
  if (!off && (Number.isNaN(wait) || Number.isNaN(longest)))
    throw usageError('runs debounce takes numbers of seconds');
  const payload = all ? 'all' : 'last';
  const changed = await client.request('PUT /integrations/{uniqueKey}/functions/{name}/debounce', {
    params: { uniqueKey, name },
    body: { debounce: off ? null : { seconds: wait, max_wait_seconds: longest, payload } },
  });
  if (json) output.result(JSON.stringify(changed));
  else if (off) output.result(`${target}: each webhook starts a run`);
  else output.result(`${target}: a run starts ${wait} s after the last webhook of a connection`);
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

/** By the word of `svc runs`. */
export const settings = { concurrency: runConcurrency, debounce: debounceWebhooks };
