import { GatewayError } from '#kernel/errors.ts';
import type { CallerFormat, CallerLimits, CallerQuery } from '#ports/projection-store.ts';
import { checkNames, checkTree, refused } from './caller-syntax.ts';
import type { Connection } from './connection.ts';
import { engineCode } from './engine-errors.ts';

/** Nodes of a query. */
const treeRowsMax = 1_000_000;

/** Settings of a connection, in the order in which they are set. */
export type ConnectionSettings = Readonly<Record<string, string | number>>;

/**
 * Limits of the engine, and after them `readonly`, which forbids everything but reading and every change of a setting.
 * Queries of the gateway come first on the processor.
 */
export function callerSettings(limits: CallerLimits): ConnectionSettings {
  return {
    max_execution_time: limits.seconds,
    timeout_overflow_mode: 'throw',
    max_memory_usage: limits.memoryBytes,
    // The tree of a query has more rows than its result may have: those are counted by `countedAs`.
    max_result_rows: treeRowsMax,
    max_result_bytes: limits.resultBytes,
    result_overflow_mode: 'throw',
    max_threads: 1,
    // The order of the query is that of the answer, although it is read as a subquery.
    query_plan_remove_redundant_sorting: 0,
    max_block_size: 8192,
    max_parsing_threads: 1,
    output_format_parallel_formatting: 0,
    output_format_json_quote_64bit_integers: 1,
    output_format_pretty_color: 0,
    output_format_pretty_max_rows: limits.rows,
    output_format_pretty_row_numbers: 0,
    os_threads_nice_value_query: 19,
    use_query_cache: 0,
    allow_introspection_functions: 0,
    readonly: 1,
  };
}

const formats: Readonly<Record<CallerFormat, string>> = {
  json: 'JSONCompact',
  csv: 'CSVWithNames',
  parquet: 'Parquet',
  table: 'PrettyCompactNoEscapesMonoBlock',
};

/**
 * Runs it on a connection that only reads and whose database is that of the scope. The engine rewrites the query and
 * parses it as a subquery, so that neither a second statement nor a format, a file or another kind of statement is left.
 * @throws as `CallerQueries.runCallerQuery`
 */
export async function runOn(
  connection: Connection,
  { sql, format, limits }: CallerQuery,
): Promise<Buffer> {
  try {
    const formatted = await formattedOf(connection, sql);
    checkNames(formatted);
    checkTree(linesOf(await connection.run(`EXPLAIN AST SELECT * FROM (${formatted})`)));
    const counted = countedAs(formatted, limits);
    const result = await connection.run(`${counted} FORMAT ${formats[format]}`);
    // The escaped text may be larger than the rows.
    if (result.length <= limits.resultBytes) return result;
  } catch (error) {
    throw callerErrorOf(error, limits);
  }
  throw limitError(tooLarge(limits));
}

/**
 * Ends a query whose rows so far are more, or larger, than the result may have, before they are written. The engine's own
 * limits count what it has in memory, where the same text in each row takes no place, and ignore a SELECT without a table.
 * Callers cannot name `throwIf`.
 */
const countedAs = (checked: string, { rows, resultBytes }: CallerLimits): string =>
  `SELECT * FROM (${checked})
    WINDOW so_far AS (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    QUALIFY NOT throwIf(count() OVER so_far > ${rows} OR sum(byteSize(*)) OVER so_far > ${resultBytes})`;

/** Sent as digits, so that nothing of it is read as a part of this statement. */
async function formattedOf(connection: Connection, sql: string): Promise<string> {
  const hex = Buffer.from(sql).toString('hex');
  const text = await connection.run(
    `SELECT formatQuerySingleLine(unhex('${hex}')) FORMAT TabSeparatedRaw`,
  );
  const formatted = text.toString().replace(/\n$/, '');
  if (/^\(*(?:SELECT|WITH|FROM)\b/.test(formatted)) return formatted;
  throw refused('it is not a SELECT', 'Send one SELECT statement.');
}

/** EXPLAIN takes no FORMAT: a server writes the lines as they are, the engine in process writes them as CSV. */
const linesOf = (text: Buffer): string[] =>
  text
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (line.startsWith('"') ? line.slice(1, -1).replaceAll('""', '"') : line));

/** The server ended it for want of time, memory or space for rows. */
const limitOf: Readonly<Record<string, (limits: CallerLimits) => readonly [string, string]>> = {
  '159': ({ seconds }) => [
    `It took longer than ${seconds} s (timeout_s)`,
    'Send a larger timeout_s, or read less: add a condition on time, model or connection.',
  ],
  '241': ({ memoryBytes }) => [
    `It needed more than ${Math.round(memoryBytes / 1024 ** 2)} MiB of memory`,
    'Read less: add a condition, name fewer columns, or group by fewer values.',
  ],
  '395': (limits) => tooLarge(limits),
  '396': (limits) => tooLarge(limits),
};

const tooLarge = ({ rows, resultBytes }: CallerLimits): readonly [string, string] => [
  `Its result has more than ${rows} rows (max_rows) or ${Math.round(resultBytes / 1024 ** 2)} MiB`,
  'Send a larger max_rows, or add LIMIT.',
];

const limitError = ([message, fix]: readonly [string, string]): GatewayError =>
  new GatewayError('sql_limit', { message: `The query was ended. ${message}.`, fix });

/**
 * The connection, not the query, failed. Errors of bytes are not among them: a query can convert bytes that end too early, and
 * its text stands in the message, where it could name a part of a table as damaged.
 */
const outages = new Set(['', '81', '202', '209', '210', '243', '394', '999']);

function callerErrorOf(error: unknown, limits: CallerLimits): unknown {
  if (error instanceof GatewayError) return error;
  const code = engineCode(error);
  const limit = limitOf[code]?.(limits);
  if (limit !== undefined) return limitError(limit);
  if (outages.has(code) || !(error instanceof Error)) return error;
  return new GatewayError('sql_failed', { message: sentenceOf(error.message) });
}

const messageCharsMax = 1_000;

/** Without names that the engine proposes, which may be those of other databases, paths of tables, and our own statement. */
function sentenceOf(message: string): string {
  const cut = message
    .replaceAll(/(?:\. )?Maybe you meant:? [^?\n]*\??/g, '')
    .replaceAll(/:? ?\(while reading from part [^\n]*/g, '')
    .replaceAll(/:? In scope SELECT formatQuerySingleLine\([^\n]*/g, '')
    .trim();
  return `The query cannot run. ${cut.slice(0, messageCharsMax)}`;
}
