import type { Answer, Client, Input } from '../../client/index.ts';
import { showRows } from '../columns.ts';
import { stopOnInterrupt, type Command, type Context } from '../context.ts';
import { usageError } from '../exit.ts';
import { parseCommand, uncheckedWords } from '../options.ts';
import { revertRun } from '../revert-run.ts';
import {
  inEnvironment,
  listHelp,
  listOptions,
  listQuery,
  serviceHelp,
} from '../service-command.ts';

const options = {
  ...listOptions,
  kind: { type: 'string' },
  status: { type: 'string' },
  function: { type: 'string', short: 'f' },
  'dry-run': { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
} as const;

/** They select runs of the past. */
const notTailed = ['since', 'limit'] as const;

export const runs: Command = {
  name: 'runs',
  usage: '<list|tail|show|cancel|revert> [id]',
  summary: 'List runs of functions, cancel a run, or revert its changes to records',
  help: `Words
  list          runs of the last 24 hours, newest first; readable: whether their records can be read
  tail          runs as they are queued, start and end, until Ctrl-C (with --json one document each)
  show <id>     one run with its requests, saves, checkpoints and log lines; waits up to two seconds
                until its records are readable
  cancel <id>   end a queued or running run
  revert <id>   revert a run's changes to records: shows them, and asks

Options (all but --environment, --json, --dry-run and --yes are of list; tail has them, too, but for --since and --limit)
      --dry-run              revert: only show the changes
  -y, --yes                  revert: without asking
      --kind <kinds>         sync, action, on-event, webhook, dryrun or revert, with commas between them
      --status <statuses>    queued, running, succeeded, failed, cancelled, timed_out or interrupted
  -f, --function <name>      only of this function
${listHelp}

${serviceHelp}

Examples
  svc runs list -e dev --status failed
  svc runs list -e dev --function contacts --since 2026-01-31T08:00:00Z
  svc runs tail -e dev --status failed,timed_out
  svc runs cancel 0192f0c1-7a3b-7c4d-8e5f-001122334455 -e dev
  svc runs revert 0192f0c1-7a3b-7c4d-8e5f-001122334455 -e dev --dry-run`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, options);
    const [word = 'list', id, ...others] = positionals;
    checkWords(word, id, others, values);
    const params = { id: id ?? '' };
    await inEnvironment(context, values, async (client) => {
      if (word === 'cancel') {
        await client.request('POST /runs/{id}/cancel', { params });
        context.output.result(`The run ${params.id} is being cancelled.`);
        return;
      }
      if (word === 'revert') {
        await revertRun(context, client, params, values);
        return;
      }
      if (word === 'show') {
        const run = await client.request('GET /runs/{id}', { params });
        context.output.result(JSON.stringify(run, null, values.json === true ? 0 : 2));
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
      const query = { ...listQuery(values), ...selected };
      const { data } = await client.request('GET /runs', { query });
      const heads = [
        'run',
        'kind',
        'function',
        'connection',
        'status',
        'queued',
        'took',
        'readable',
      ];
      showRows(context, values.json, data, heads, (one) => [
        one.id,
        one.kind,
        one.function,
        one.connection_id,
        one.status,
        one.queued_at,
        one.duration_ms === null ? '' : `${one.duration_ms} ms`,
        one.records_readable === null ? '' : one.records_readable ? 'yes' : 'not yet',
      ]);
    });
  },
};

/** @throws CommandFailure of usage */
function checkWords(
  word: string,
  id: string | undefined,
  others: readonly string[],
  values: ReturnType<typeof parseCommand<typeof options>>['values'],
): void {
  if (!['list', 'tail', 'show', 'cancel', 'revert'].includes(word)) {
    throw usageError(`runs has no "${word}"`);
  }
  const isOfMany = word === 'list' || word === 'tail';
  if (others.length > 0 || isOfMany !== (id === undefined)) {
    throw usageError(isOfMany ? `runs ${word} takes no id` : `runs ${word} takes one id`);
  }
  const refused = notTailed.find((name) => values[name] !== undefined);
  if (word === 'tail' && refused !== undefined) {
    throw usageError(`runs tail takes no --${refused}`);
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
  const error = run.error === null ? '' : `  ${run.error.message}`;
  const what = `${run.kind} ${run.function} of ${run.connection_id}`;
  return `${at}  ${run.status.padEnd(9)}  ${run.id}  ${what}${took}${error}`;
}
