import type { Answer, Client, Input } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { printable } from '#kernel/printable.ts';
import { confirm } from '../account.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options } from '../command.ts';
import { stopOnInterrupt, type Context } from '../context.ts';
import { usageError } from '../exit.ts';
import { failureLines } from '../failure-text.ts';
import { uncheckedWords } from '../options.ts';
import { inEnvironment, listOptions, listQuery, serviceHelp } from '../service-command.ts';

const options = {
  ...listOptions,
  kind: [
    '--kind <kinds>',
    'sync, action, on-event, on-change, webhook, dryrun or revert, with commas between them',
  ],
  status: [
    '--status <statuses>',
    'queued, running, succeeded, failed, cancelled, timed_out or interrupted',
  ],
  function: ['--function <name>', 'only of this function; replay: a file with other code'],
  day: ['--day <day>', 'replay: the runs of this day (UTC)'],
  off: ['--off', 'record, concurrency, debounce: no longer'],
  'max-wait': ['--max-wait <seconds>', 'debounce: the first webhook waits no longer (60)'],
  all: ['--all', 'debounce: onWebhook gets a list of all webhooks, not the newest one'],
  'dry-run': ['--dry-run', 'revert: only show the changes'],
  yes: ['-y, --yes', 'revert: without asking'],
} as const satisfies Options;

/** They select runs of the past. */
const notTailed = ['since', 'limit'] as const;

export const runs = defineCommand({
  name: 'runs',
  usage: '',
  summary: 'List, cancel, replay or revert runs of functions',
  about: 'The filters are those of list; tail has them too, except --since and --limit.',
  words: {
    list: 'runs of the last 24 hours, newest first; readable: whether their records can be read',
    tail: 'runs as they are queued, start and end, until Ctrl-C (with --json one document each)',
    'show <id>':
      'one run with its requests, saves, checkpoints and log lines; waits up to two seconds until its records are readable',
    'cancel <id>': 'end a queued or running run',
    'record <integration>/<function>':
      'keep the responses that its runs get for 7 days, sealed, so that they can be replayed',
    'concurrency <integration>/<function> [n]':
      'let each connection have n runs of the function at the same time; without n show what waits',
    'debounce <integration>/<sync> [seconds]':
      'join the webhooks of a connection that follow each other within so many seconds to one run',
    'replay [id]':
      'run it again on its recorded responses, without effects, and show the difference; without an id the recorded runs of a --day or a --connection',
    'revert <id>': "revert a run's changes to records: shows them, and asks",
  },
  defaultWord: 'list',
  options,
  help: `${serviceHelp}

Examples
  svc runs list -e dev --status failed
  svc runs list -e dev --function contacts --since 2026-01-31T08:00:00Z
  svc runs tail -e dev --status failed,timed_out
  svc runs cancel 0192f0c1-7a3b-7c4d-8e5f-001122334455 -e dev
  svc runs record crm/contacts -e dev
  svc runs concurrency crm/sync-orders 1 -e dev
  svc runs concurrency crm/sync-orders -e dev
  svc runs debounce crm/sync-orders 2 --max-wait 30 -e dev
  svc runs replay 0192f0c1-7a3b-7c4d-8e5f-001122334455 -e dev
  svc runs replay --connection acme --function crm/syncs/contacts.ts -e dev
  svc runs revert 0192f0c1-7a3b-7c4d-8e5f-001122334455 -e dev --dry-run`,

  async run({ word, positionals, values }, context) {
    const [id = ''] = positionals;
    if (word === 'replay') {
      const [replayedId] = positionals;
      const { replayRuns } = await import('../replay-runs.ts');
      await inEnvironment(context, values, (client) =>
        replayRuns(context, client, { id: replayedId, values }),
      );
      return;
    }
    if (word === 'record') {
      await inEnvironment(context, values, (client) => recordCalls(context, client, id, values));
      return;
    }
    if (word === 'concurrency' || word === 'debounce') {
      const { settings } = await import('../run-concurrency.ts');
      await inEnvironment(context, values, (client) =>
        settings[word](context, client, positionals, values),
      );
      return;
    }
    const params = { id };
    const refused = notTailed.find((name) => values[name] !== undefined);
    if (word === 'tail' && refused !== undefined) {
      throw usageError(`runs tail takes no --${refused}`);
    }
    await inEnvironment(context, values, async (client) => {
      if (word === 'cancel') {
        await client.request('POST /runs/{id}/cancel', { params });
        context.output.result(`Canceling the run ${params.id}`);
        return;
      }
      if (word === 'revert') {
        await revertRun(context, client, params, values);
        return;
      }
      if (word === 'show') {
        const run = await client.request('GET /runs/{id}', { params });
        if (values.json === true) context.output.result(JSON.stringify(run));
        else await showRun(context, run.data);
        return;
      }
      const selected = {
        kind: uncheckedWords(values.kind),
        status: uncheckedWords(values.status),
        function: values.function,
      };
      if (word === 'tail') {
        const { integration, connection, json } = values;
        const ofConnection = { provider_config_key: integration, connection_id: connection };
        await tailRuns(context, client, { ...ofConnection, ...selected }, json === true);
        return;
      }
      await listRuns(context, client, { ...listQuery(values), ...selected }, values.json);
    });
  },
});

async function listRuns(
  context: Context,
  client: Client,
  query: Input<'GET /runs'>['query'],
  isJson: boolean | undefined,
): Promise<void> {
  const { data } = await client.request('GET /runs', { query });
  const heads = ['run', 'kind', 'function', 'connection', 'status', 'queued', 'took', 'readable'];
  await showRows(context, isJson, data, heads, (one) => [
    one.id,
    one.kind,
    one.function,
    one.connection_id,
    statusText(one),
    one.queued_at,
    one.duration_ms === null ? '' : `${one.duration_ms} ms`,
    one.records_readable === null ? '' : one.records_readable ? 'yes' : 'not yet',
  ]);
}

/** With its position where it waits for other runs of its function. */
const statusText = ({ status, waiting }: Answer<'GET /runs'>['data'][number]): string =>
  waiting === null ? status : `${status}, position ${waiting.position}`;

/** Whether the calls of a function are recorded from now on. */
async function recordCalls(
  { output }: Context,
  client: Client,
  target: string,
  { off = false, json = false }: { readonly off?: boolean; readonly json?: boolean },
): Promise<void> {
  const [uniqueKey = '', name = ''] = target.split('/');
  if (name === '') throw usageError('runs record takes <integration>/<function>, as crm/contacts');
  const params = { uniqueKey, name };
  const found = await client.request('GET /integrations/{uniqueKey}/functions/{name}', { params });
  const changed = await client.request('PUT /integrations/{uniqueKey}/functions/{name}/recording', {
    params,
    query: { type: found.data.type },
    body: { record_calls: !off },
  });
  if (json) output.result(JSON.stringify(changed));
  else {
    const what = off ? 'are no longer recorded' : 'are recorded from now on, and kept for 7 days';
    output.result(`The calls of ${target} ${what}`);
  }
}

/** Until Ctrl-C, the regular end. */
async function tailRuns(
  context: Context,
  client: Client,
  query: Input<'GET /runs/tail'>['query'],
  isJson: boolean,
): Promise<void> {
  const { output } = context;
  using stopping = stopOnInterrupt(context);
  output.note('Following the runs; Ctrl-C ends it.');
  const { signal } = stopping;
  for await (const { data } of client.events('GET /runs/tail', { query, signal })) {
    // The API guarantees the shape.
    const run = data as Answer<'GET /runs'>['data'][number];
    output.result(isJson ? JSON.stringify(run) : tailedLine(run));
  }
}

function tailedLine(run: Answer<'GET /runs'>['data'][number]): string {
  const at = run.ended_at ?? run.started_at ?? run.queued_at;
  const took = run.duration_ms === null ? '' : `  ${run.duration_ms} ms`;
  const error = run.error === null ? '' : `  ${errorText(run.error)}`;
  const what = `${run.kind} ${run.function} of ${run.connection_id}`;
  return `${at}  ${run.status.padEnd(9)}  ${run.id}  ${what}${took}${error}`;
}

const errorText = ({ message, location }: NonNullable<ShownRun['error']>): string =>
  `${printable(message)}${location === null ? '' : ` (${location})`}`;

type ShownRun = Answer<'GET /runs/{id}'>['data'];

/** Heading, what it saved, and its timeline: requests, saves, checkpoints and log lines. */
async function showRun(context: Context, run: ShownRun): Promise<void> {
  const { output } = context;
  const took = run.duration_ms === null ? '' : ` after ${run.duration_ms} ms`;
  const color = run.status === 'succeeded' ? 'green' : run.error === null ? 'yellow' : 'red';
  const name = `${run.provider_config_key}/${run.connection_id}`;
  output.result(`${run.kind} ${run.function} of ${name}  (${run.id})`);
  output.result(
    `${output.paint(color, statusText(run))}${took}, attempt ${run.attempt}, by ${run.trigger ?? 'request'}`,
  );
  if (run.error !== null) {
    const name = run.failure === null ? '' : `${printable(run.failure.name)}: `;
    const what = `${name}${printable(run.error.message)} (${run.error.code})`;
    output.result(output.paint('red', what));
    const lines = run.failure === null ? [] : failureLines(run.failure, output.paint);
    for (const line of lines) output.result(line);
    output.result(output.paint('yellow', `fix: ${run.error.fix}`));
  }
  const counts = Object.entries(run.counts);
  if (counts.length > 0) {
    output.result('');
    const kinds = ['added', 'updated', 'deleted', 'unchanged'] as const;
    await showRows(context, false, counts, ['model', ...kinds], ([model, one]) => [
      model,
      ...kinds.map((kind) => one[kind]),
    ]);
  }
  if (run.timeline.length === 0) return;
  output.result('');
  const begun = Date.parse(run.queued_at);
  const heads = ['after', 'what', 'detail'];
  const cells = (one: ShownRun['timeline'][number]) =>
    [`${Date.parse(one.at) - begun} ms`, one.what, detailOf(one)] as const;
  await showRows(context, false, run.timeline, heads, cells);
}

function detailOf(one: ShownRun['timeline'][number]): string {
  const requestParts = [one.status, one.method, one.path].filter((part) => part !== undefined);
  return [
    ...(one.level === undefined ? [] : [`${one.level}:`]),
    ...requestParts,
    ...(one.model === undefined ? [] : [one.model]),
    ...(one.count === undefined ? [] : [counted(one.count, 'record')]),
    ...(one.message === undefined ? [] : [one.message]),
    ...(one.duration_ms === undefined ? [] : [`in ${one.duration_ms} ms`]),
  ].join(' ');
}

type Revert = Answer<'POST /runs/{id}/revert'>['data'];

/** Prints what would be reverted, asks, and reverts it. @throws CommandFailure without confirmation */
async function revertRun(
  context: Context,
  client: Client,
  params: { readonly id: string },
  options: {
    readonly 'dry-run'?: boolean;
    readonly yes?: boolean;
    readonly json?: boolean;
  },
): Promise<void> {
  const revert = async (isDry: boolean): Promise<Revert> =>
    (await client.request('POST /runs/{id}/revert', { params, body: { dry_run: isDry } })).data;
  const planned = await revert(true);
  const isDry = options['dry-run'] === true;
  if (isDry || options.json !== true) await show(context, planned, options.json);
  if (isDry) return;
  await confirm(context, options, 'Revert these changes?');
  const done = await revert(false);
  if (options.json === true) await show(context, done, true);
  else context.output.result(`Reverted by the run ${done.revert_run_id ?? ''}`);
}

async function show(context: Context, revert: Revert, isJson: boolean | undefined): Promise<void> {
  const { output } = context;
  if (isJson === true) {
    output.result(JSON.stringify(revert));
    return;
  }
  const kinds = ['deleted', 'updated', 'restored', 'unchanged', 'left'] as const;
  await showRows(
    context,
    false,
    Object.entries(revert.counts),
    ['model', ...kinds],
    ([model, counts]) => [model, ...kinds.map((kind) => counts[kind])],
  );
  for (const { model, id, reason, run_id: runId } of revert.left) {
    output.note(
      `Left alone: ${model} ${printable(id)} (${reason}${runId === null ? '' : ` by ${runId}`})`,
    );
  }
}
