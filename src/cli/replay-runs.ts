import { basename, relative, resolve, sep } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { ApiError, type Answer, type Client, type Input } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { printable } from '#kernel/printable.ts';
import { dayMs } from '#kernel/time.ts';
import { importedFiles } from '#rules/imported-files.ts';
import type { Context } from './context.ts';
import { CommandFailure, exitCodes, usageError } from './exit.ts';

/** Replays of recorded runs, and the text of their differences (docs/time-travel.md). */

const pollMs = 250;
/** Runs that one command replays, unless a limit is named. */
const runsMax = 100;

const any = z.custom<unknown>();
const change = z.object({ recorded: any, replayed: any }).nullable();
const difference = z.object({
  run_id: z.string(),
  attempt: z.int(),
  identical: z.boolean(),
  outcome: change,
  checkpoint: change,
  metadata: change,
  started: change,
  records: z.record(
    z.string(),
    z.object({
      same: z.int(),
      changed: z.int(),
      only_recorded: z.int(),
      only_replayed: z.int(),
      differences: z.array(z.object({ id: z.string(), recorded: any, replayed: any })),
    }),
  ),
  logs: z.object({
    same: z.int(),
    only_recorded: z.array(z.string()),
    only_replayed: z.array(z.string()),
  }),
  requests: z.object({ unanswered: z.array(z.string()), not_made: z.array(z.string()) }),
});
type Difference = z.output<typeof difference>;

interface ReplayValues {
  readonly function?: string | undefined;
  readonly day?: string | undefined;
  readonly connection?: string | undefined;
  readonly integration?: string | undefined;
  readonly since?: string | undefined;
  readonly limit?: string | undefined;
  readonly json?: boolean | undefined;
}

/**
 * Replays one run, or those of a day or a connection, with the deployed code or that of a file.
 * @throws CommandFailure `differs`: the deployed code did something else
 */
export async function replayRuns(
  context: Context,
  client: Client,
  { id, values }: { readonly id: string | undefined; readonly values: ReplayValues },
): Promise<void> {
  const { output } = context;
  const other = values.function === undefined ? null : codeOf(context, values.function);
  const ids = id === undefined ? await selectedRuns(client, values) : [id];
  const differing: string[] = [];
  const totals: Record<string, number> = {};
  let skipped = 0;
  for (const runId of ids) {
    const found = await replayed(client, runId, other, id === undefined);
    if (found === null) {
      skipped += 1;
      continue;
    }
    if (!found.difference.identical) differing.push(runId);
    if (values.json === true)
      output.result(JSON.stringify({ ...found.begun, ...found.difference }));
    else for (const line of linesOf(found)) output.result(line);
    for (const [model, counts] of Object.entries(found.difference.records)) {
      const changes = counts.changed + counts.only_recorded + counts.only_replayed;
      totals[model] = (totals[model] ?? 0) + changes;
    }
  }
  if (id === undefined) {
    const count = ids.length - skipped;
    output.note(
      `Replayed ${counted(count, 'run')}, ${differing.length} with a difference; ${skipped} without a recording.`,
    );
    for (const [model, changes] of Object.entries(totals)) {
      output.note(`${model}: ${counted(changes, 'record')} would differ`);
    }
  }
  if (other === null && differing.length > 0) {
    throw new CommandFailure(`The replay of ${differing.join(', ')} differs from the recording.`, {
      exitCode: exitCodes.differs,
    });
  }
}

type OtherCode = NonNullable<Input<'POST /runs/{id}/replays'>['body']>;

/** The file of a function, and the files of the project that it imports. */
function codeOf({ root }: Context, file: string): OtherCode {
  const entry = relative(root, resolve(root, file)).replaceAll(sep, '/');
  const { [entry]: code, ...others } = textsOf(root, entry);
  const imports = Object.entries(others).map(
    ([path, text]) => [inProject(entry, path), text] as const,
  );
  return { code: code ?? '', imports: Object.fromEntries(imports) };
}

/** @throws CommandFailure when a file cannot be read */
function textsOf(root: string, entry: string): Record<string, string> {
  try {
    return Object.fromEntries(importedFiles(root, entry));
  } catch (error) {
    const { path = entry } = error as NodeJS.ErrnoException;
    throw usageError(`--function takes a file of TypeScript; ${path} cannot be read`);
  }
}

/** The service calls the folder of the function's integration `integration`. */
function inProject(entry: string, path: string): string {
  const [integration = ''] = entry.split('/');
  const [folder = '', ...rest] = path.split('/');
  return [folder === integration ? 'integration' : folder, ...rest].join('/');
}

/** Of a day or a connection, oldest first; of the function whose file is named. */
async function selectedRuns(client: Client, values: ReplayValues): Promise<string[]> {
  if (values.day === undefined && values.connection === undefined) {
    throw usageError('Name a run, a --day or a --connection');
  }
  const max = values.limit === undefined ? runsMax : Number(values.limit);
  const query: Input<'GET /runs'>['query'] = {
    kind: ['sync', 'action', 'on-event', 'on-change', 'webhook'],
    connection_id: values.connection,
    provider_config_key: values.integration,
    function: values.function === undefined ? undefined : basename(values.function, '.ts'),
    ...rangeOf(values),
  };
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.request('GET /runs', { query: { ...query, cursor } });
    found.push(...page.data.flatMap((run) => (run.ended_at === null ? [] : [run.id])));
    cursor = page.pagination.cursor ?? undefined;
  } while (cursor !== undefined && found.length < max);
  return found.slice(0, max).toReversed();
}

function rangeOf({ day, since }: ReplayValues): { since?: string; until?: string } {
  if (day === undefined) return since === undefined ? {} : { since };
  const start = Date.parse(`${day}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(start)) {
    throw usageError(`--day takes a day in UTC such as 2026-01-31, not "${day}"`);
  }
  const end = start + dayMs - 1;
  return { since: new Date(start).toISOString(), until: new Date(end).toISOString() };
}

interface RunReplay {
  readonly begun: Answer<'POST /runs/{id}/replays'>;
  readonly difference: Difference;
}

/** Null: one of several runs, without a recording that can be replayed. */
async function replayed(
  client: Client,
  id: string,
  other: OtherCode | null,
  isOneOfMany: boolean,
): Promise<RunReplay | null> {
  const body = other ?? {};
  const asked = client.request('POST /runs/{id}/replays', { params: { id }, body });
  const begun = await asked.catch((error: unknown) => {
    const isUnrecorded =
      error instanceof ApiError && (error.status === 404 || error.status === 409);
    if (isOneOfMany && isUnrecorded) return null;
    throw error;
  });
  if (begun === null) return null;
  for (;;) {
    const run = await client.request('GET /functions/dryruns/{id}', { params: { id: begun.id } });
    if (run.status === 'success') return { begun, difference: difference.parse(run.result) };
    if (run.error !== undefined) {
      throw new CommandFailure(`The replay failed: ${printable(run.error.message)}`, {
        exitCode: exitCodes.dryRunFailed,
      });
    }
    await wait(pollMs);
  }
}

function linesOf({ begun, difference: found }: RunReplay): string[] {
  const code = begun.same_code ? 'the recorded code' : 'other code';
  const kept = `${counted(begun.recorded_calls, 'call')} recorded in ${begun.recorded_bytes} bytes`;
  return [
    `Run ${found.run_id}, attempt ${found.attempt}, with ${code}; ${kept}`,
    ...(found.identical ? ['identical: the same saves, log lines and output'] : []),
    ...Object.entries(found.records).flatMap(([model, counts]) => [
      `${model}: ${counts.same} the same, ${counts.changed} changed, ${counts.only_recorded} only recorded, ${counts.only_replayed} only replayed`,
      ...counts.differences.flatMap(({ id, recorded, replayed: now }) =>
        pairOf(`${model} ${printable(id)}`, recorded, now),
      ),
    ]),
    ...(['outcome', 'checkpoint', 'metadata', 'started'] as const).flatMap((part) => {
      const one = found[part];
      return one === null ? [] : pairOf(part, one.recorded, one.replayed);
    }),
    ...found.logs.only_recorded.map((line) => `- log ${printable(line)}`),
    ...found.logs.only_replayed.map((line) => `+ log ${printable(line)}`),
    ...found.requests.unanswered.map((name) => `no recorded response: ${printable(name)}`),
    ...found.requests.not_made.map((name) => `not made any more: ${printable(name)}`),
  ];
}

const pairOf = (name: string, recorded: unknown, replayedValue: unknown): string[] => [
  `- ${name} ${jsonText(recorded)}`,
  `+ ${name} ${jsonText(replayedValue)}`,
];

const jsonText = (value: unknown): string =>
  value === null ? '(nothing)' : printable(JSON.stringify(value));
