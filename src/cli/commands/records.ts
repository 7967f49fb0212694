import type { Answer } from '#client/index.ts';
import { showRows } from '../columns.ts';
import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../exit.ts';
import { inEnvironment, limitOf, serviceHelp, serviceOptions } from '../service-command.ts';

export const records = defineCommand({
  name: 'records',
  usage: '<model> <connection>',
  summary: 'Read the current or former records of a connection',
  about: `Without a subcommand it prints records in the order of modification, one line of JSON each, then the cursor of the
last one on stderr.`,
  words: {
    'history <model> <connection> <id>':
      'the changes of one record, newest first, with actor and run',
  },
  options: {
    ...serviceOptions,
    integration: ['-i, --integration <id>', 'integration of the connection (needed)'],
    variant: ['--variant <name>', 'variant of the sync (base)'],
    cursor: ['--cursor <cursor>', 'only records modified after it'],
    filter: ['--filter <actions>', 'added, updated, deleted, with commas between them'],
    limit: ['--limit <n>', 'records of a page (100)'],
    all: ['--all', 'every page, to the end'],
    'as-of': ['--as-of <time>', 'as of a time, or of the time of a cursor'],
    json: ['--json', 'history: the answer as JSON on stdout'],
  },
  help: `${serviceHelp}

Examples
  svc records Contact acme --integration crm -e dev
  svc records Contact acme -i crm -e dev --filter deleted --all
  svc records Contact acme -i crm -e dev --as-of 2026-02-01T08:00:00Z
  svc records history Contact acme c-1 -i crm -e dev`,

  async run({ positionals, values }, context) {
    const [model = '', connectionId = '', id] = positionals;
    const { integration, variant, filter, limit } = values;
    if (integration === undefined) {
      throw usageError('Name the integration: --integration <id>');
    }
    const headers = { 'provider-config-key': integration, 'connection-id': connectionId };
    await inEnvironment(context, values, async (client) => {
      const page = { model, variant, limit: limitOf(limit), cursor: values.cursor };
      if (id !== undefined) {
        const query = { ...page, id };
        const answer = await client.request('GET /records/history', { query, headers });
        await showHistory(context, answer, values.json);
        return;
      }
      const query = { ...page, filter, as_of: values['as-of'] };
      let isFirst = values.cursor === undefined;
      for await (const found of client.pages('GET /records', { query, headers })) {
        for (const record of found.records) context.output.result(JSON.stringify(record));
        if (found.records.length === 0 && isFirst) {
          context.output.note(`No records of ${model}.`);
        }
        isFirst = false;
        if (values.all === true || found.next_cursor === null) continue;
        context.output.note(`There are more: --cursor ${found.next_cursor}, or --all`);
        return;
      }
    });
  },
});

/** Prints the changes of one record, as a table or as JSON; reports missing ones on stderr. */
async function showHistory(
  context: Context,
  history: Answer<'GET /records/history'>,
  isJson: boolean | undefined,
): Promise<void> {
  const { output } = context;
  if (isJson === true) {
    output.result(JSON.stringify(history));
    return;
  }
  const heads = ['version', 'at', 'action', 'run', 'actor', 'payload'];
  await showRows(context, false, history.changes, heads, (change) => [
    change.version ?? '',
    change.at,
    change.action,
    change.run_id ?? '',
    change.actor ?? '',
    change.payload === null ? `(${change.payload_state})` : JSON.stringify(change.payload),
  ]);
  const { next_cursor: next, earlier_changes: earlier } = history;
  if (next !== null) output.note(`There are more: --cursor ${next}`);
  if (earlier !== null && earlier > 0) output.note(`${earlier} earlier changes have left the log.`);
}
