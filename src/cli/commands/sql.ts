import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { refusal } from '#client/api-error.ts';
import type { Client, Input, SavedQuery } from '#client/index.ts';
import { shellWord } from '#kernel/shell.ts';
import { confirm } from '../account.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import type { Context } from '../context.ts';
import { CommandFailure, usageError } from '../exit.ts';
import { environmentOption, inEnvironment, limitOf, serviceHelp } from '../service-command.ts';

type Body = NonNullable<Input<'POST /sql'>['body']>;

const formats = ['table', 'csv', 'json', 'parquet'] as const satisfies readonly Body['format'][];
type Format = (typeof formats)[number];

const options = {
  environment: environmentOption,
  file: ['--file <path>', 'read the query from this file'],
  saved: ['--saved <name>', 'run the saved query of this name'],
  format: ['--format <name>', 'table, csv, json or parquet (table)'],
  out: ['--out <path>', 'write the rows to this file'],
  'max-rows': ['--max-rows <n>', 'most rows of the result (10000)'],
  timeout: ['--timeout <seconds>', 'end the query after so long (30)'],
  description: ['--description <text>', 'save: what the query answers'],
  yes: ['-y, --yes', 'delete: do not ask'],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

export const sql = defineCommand({
  name: 'sql',
  usage: '[query]',
  summary: 'Query records, runs and webhooks of an environment with SQL',
  about: `One SELECT over the views of docs/sql.md, in the SQL of ClickHouse. Without a query it is read from stdin.`,
  words: {
    queries: 'the saved queries of the environment',
    'save <name> [query]': 'save a query, or replace the one of this name',
    'delete <name>': 'remove a saved query',
  },
  options,
  help: `${serviceHelp}

Examples
  svc sql "SELECT model, count() FROM v_records GROUP BY model" -e dev
  svc sql --file failed-runs.sql --format csv --out failed-runs.csv -e prod
  echo "SELECT * FROM v_runs WHERE status = 'failed'" | svc sql -e dev
  svc sql save failed-runs --file failed-runs.sql -e dev
  svc sql --saved failed-runs --format csv -e dev`,

  async run({ word, positionals, values }, context) {
    switch (word) {
      case 'queries':
        return list(context, values);
      case 'save':
        return save(context, values, positionals);
      case 'delete':
        return remove(context, values, positionals);
      default:
        return query(context, values, positionals);
    }
  },
});

async function list(context: Context, values: Values): Promise<void> {
  await inEnvironment(context, values, async (client) => {
    const { data } = await client.request('GET /sql/queries');
    const isJson = formatOf(values.format, values.out) === 'json';
    await showRows(context, isJson, data, ['query', 'saved', 'answers'], (one) => [
      one.name,
      one.updated_at,
      one.description,
    ]);
  });
}

async function save(
  context: Context,
  values: Values,
  [name = '', operand]: readonly string[],
): Promise<void> {
  const { description } = values;
  const body = {
    query: await queryOf(context, operand, values.file),
    ...(description === undefined ? {} : { description }),
  };
  await inEnvironment(context, values, async (client) => {
    await client.request('PUT /sql/queries/{name}', { params: { name }, body });
    context.output.note(`Saved ${name}. Run it with: svc sql --saved ${shellWord(name)}`);
  });
}

async function remove(
  context: Context,
  values: Values,
  [name = '']: readonly string[],
): Promise<void> {
  await confirm(context, values, `Delete the saved query ${name}?`);
  await inEnvironment(context, values, async (client) => {
    await client.request('DELETE /sql/queries/{name}', { params: { name } });
    context.output.note(`Deleted ${name}`);
  });
}

async function savedQuery(client: Client, name: string): Promise<SavedQuery> {
  const { data } = await client.request('GET /sql/queries/{name}', { params: { name } });
  return data;
}

async function query(
  context: Context,
  values: Values,
  [operand]: readonly string[],
): Promise<void> {
  const { saved, file } = values;
  if (saved !== undefined && (operand !== undefined || file !== undefined))
    throw usageError('Send one query: as an argument, with --file or with --saved');
  const format = formatOf(values.format, values.out);
  const rows = limitOf(values['max-rows']);
  const seconds = limitOf(values.timeout);
  const own = saved === undefined ? await queryOf(context, operand, file) : null;
  await inEnvironment(context, values, async (client) => {
    const body: Body = {
      query: own ?? (await savedQuery(client, saved ?? '')).query,
      format,
      ...(rows === undefined ? {} : { max_rows: rows }),
      ...(seconds === undefined ? {} : { timeout_s: seconds }),
    };
    const response = await client.fetch('/sql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      // The service ends the query by its own limit.
      signal: new AbortController().signal,
    });
    if (!response.ok) throw refusal(response.status, await response.text());
    await show(context, values.out, response);
  });
}

/** @throws CommandFailure if there is none, or one too many */
async function queryOf(
  { root, isTerminal }: Context,
  operand: string | undefined,
  file: string | undefined,
): Promise<string> {
  if (operand !== undefined && file !== undefined)
    throw usageError('Send one query: as an argument or with --file');
  if (operand !== undefined) return operand;
  if (file === undefined && isTerminal)
    throw usageError('sql takes a query: as an argument, with --file, or on stdin');
  const query = file === undefined ? await text(process.stdin) : fileText(root, file);
  if (query.trim() === '') throw usageError('The query is empty');
  return query;
}

function fileText(root: string, file: string): string {
  try {
    return readFileSync(resolve(root, file), 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`Could not read --file: ${reason}`);
  }
}

function formatOf(name = 'table', out: string | undefined): Format {
  const format = formats.find((one) => one === name);
  if (format === undefined) throw usageError(`--format takes one of ${formats.join(', ')}`);
  if (format === 'parquet' && out === undefined)
    throw usageError('Name a file for Parquet: --out <path>');
  return format;
}

async function show(
  { root, output }: Context,
  out: string | undefined,
  response: Response,
): Promise<void> {
  const bytes = Buffer.from(await response.arrayBuffer());
  if (out === undefined) {
    output.result(bytes.toString().replace(/\n$/, ''));
    return;
  }
  try {
    writeFileSync(resolve(root, out), bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`Could not write --out: ${reason}`);
  }
  output.note(`Wrote ${bytes.length} bytes to ${out}`);
}
