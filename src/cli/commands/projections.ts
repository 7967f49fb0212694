import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Projection, ProjectionGeneration } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { printable } from '#kernel/printable.ts';
import { accountHelp, confirm, withAccount } from '../account.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import { type Context, stopOnInterrupt } from '../context.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { wholeNumber } from '../options.ts';
import {
  progressLine,
  sizeText,
  tableLines,
  verificationLines,
  type Verification,
} from '../projections/show.ts';
import { environmentOption, inEnvironment } from '../service-command.ts';

const options = {
  pace: ['--pace <1-100>', 'rebuild: share of the time it may take, in percent (75)'],
  switch: ['--switch', 'rebuild: activate the tables if they have no difference'],
  force: ['--force', 'switch: also without verification'],
  detach: ['--detach', 'rebuild: do not wait'],
  'dry-run': ['--dry-run', 'rebuild: only print how much it would read and store'],
  environment: environmentOption,
  generation: ['--generation <n>', 'pause, resume, drop: this generation'],
  yes: ['-y, --yes', 'do not ask'],
  json: ['--json', 'the projection as JSON on stdout'],
} as const satisfies Options;

type Values = ValuesOf<typeof options>;

/** The context of a subcommand of `projections`. */
interface Task {
  readonly context: Context;
  readonly client: Client;
  readonly name: string;
  readonly values: Values;
}

export const projections = defineCommand({
  name: 'projections',
  usage: '',
  summary: 'Show and rebuild the tables that are derived from the log',
  words: {
    list: 'each projection: generations, position, end, lag, rows',
    'show <name>': 'one projection as JSON',
    'rebuild <name>': 'rebuild the tables beside the active ones, and compare them',
    'follow <name>': 'show the progress of a rebuild',
    'verify <name>': 'compare the built tables with the active ones',
    'switch <name>': 'activate the built tables',
    'rollback <name>': 'activate the former tables again',
    'pause <name>': 'pause the build (or --generation)',
    'resume <name>': 'resume the build (or --generation)',
    'failures <name>': 'a projection of the project: the records that it could not map',
    'delete <name>': 'a projection of the project: remove it with its tables',
    'drop <name>': 'drop the inactive tables; ends a rebuild (or --generation)',
  },
  defaultWord: 'list',
  options,
  help: `${accountHelp}

Exit codes
  0 done   1 failed   3 key missing or refused   4 refused or not confirmed   5 differences found
  130 interrupted: the operation continues

Examples
  svc projections list
  svc projections rebuild records --switch --yes
  svc projections rollback records
  svc projections failures contacts -e dev
  svc projections delete contacts -e dev --yes`,

  async run({ word, positionals, values }, context) {
    const [name = ''] = positionals;
    if (word === 'delete' || word === 'failures') {
      await inEnvironment(context, values, async (client) => {
        await tasksOfProjects[word]({ context, client, name, values });
      });
      return;
    }
    await withAccount(context, async (client) => {
      await tasks[word]({ context, client, name, values });
    });
  },
});

/** With a key of the environment, by the name in the project. */
const tasksOfProjects = {
  async delete({ context, client, name, values }: Task): Promise<void> {
    await confirm(context, values, `Delete the projection ${name} with its tables?`);
    await client.request('DELETE /custom-projections/{name}', { params: { name } });
    context.output.result(
      values.json === true ? JSON.stringify({ success: true }) : `Deleted ${name}`,
    );
  },
  async failures({ context, client, name, values }: Task): Promise<void> {
    const { data } = await client.request('GET /custom-projections');
    const found = data.find((one) => one.name === name);
    if (found === undefined) {
      throw new CommandFailure(`The projection "${name}" is not deployed in this environment`);
    }
    if (values.json === true) {
      context.output.result(JSON.stringify(found));
      return;
    }
    const { failed_records: count, failures, state } = found;
    context.output.note(`${counted(count, 'record')} could not be mapped`);
    if (state === 'held') {
      context.output.note(
        'The deployed mapping does not replace the former one, which has rows of them. ' +
          `Deploy a corrected one, or: svc projections switch ${found.projection} --force`,
      );
    }
    for (const one of failures) {
      const { integration, connection_id: connection, model, record_id: id, error } = one;
      context.output.result(printable(`${integration} ${connection} ${model} ${id}: ${error}`));
    }
  },
} as const;

const tasks = {
  list,
  show: async (task: Task) => say(task, await projectionOf(task), true),
  rebuild,
  follow: async (task: Task) => {
    await followBuilding(task);
    await say(task, await projectionOf(task));
  },
  verify: async (task: Task) => {
    await verify(task);
    await say(task, await projectionOf(task));
  },
  async switch(task: Task) {
    await confirm(task.context, task.values, `Switch to the built tables of ${task.name}?`);
    await say(task, await switchTables(task, task.values.force === true));
  },
  async rollback(task: Task) {
    const { context, client, name, values } = task;
    await confirm(context, values, `Switch back to the former tables of ${name}?`);
    const params = { name };
    await say(task, (await client.request('POST /projections/{name}/rollback', { params })).data);
  },
  pause: async (task: Task) =>
    await say(
      task,
      (await task.client.request('POST /projections/{name}/pause', named(task))).data,
    ),
  resume: async (task: Task) =>
    await say(
      task,
      (await task.client.request('POST /projections/{name}/resume', named(task))).data,
    ),
  drop,
};

const named = ({ name, values }: Task) => ({
  params: { name },
  body: { generation: numberOf('generation', values.generation) },
});

const numberOf = (option: string, text: string | undefined): number | undefined =>
  text === undefined ? undefined : wholeNumber(option, text);

async function list({ context, client, values }: Task): Promise<void> {
  const { data } = await client.request('GET /projections');
  const lines = values.json === true ? [JSON.stringify(data)] : await tableLines(data);
  for (const line of lines) context.output.result(line);
}

async function rebuild(task: Task): Promise<void> {
  const { client, context, name, values } = task;
  const before = await projectionOf(task);
  const read = before.generations.find((one) => one.generation === before.active_generation);
  const what = `${read?.end ?? 0} offsets of ${before.topic}, about ${sizeText(read?.bytes ?? 0)} of disk`;
  if (values['dry-run'] === true) {
    context.output.note(`A rebuild of ${name} reads ${what}.`);
    await say(task, before);
    return;
  }
  const body = { pace_percent: numberOf('pace', values.pace) };
  await confirm(context, values, `Rebuild ${name}: ${what}. Continue?`);
  await client.request('POST /projections/{name}/rebuild', { params: { name }, body });
  if (values.detach === true) {
    await say(task, await projectionOf(task));
    return;
  }
  await followBuilding(task);
  await verify(task);
  if (values.switch !== true) {
    context.output.note(`To activate it: svc projections switch ${name}`);
    await say(task, await projectionOf(task));
    return;
  }
  const switched = await switchTables(task);
  context.output.note(`Activated generation ${switched.active_generation}`);
  await say(task, switched);
}

async function switchTables({ client, name }: Task, force?: boolean): Promise<Projection> {
  const order = { params: { name }, body: { force } };
  return (await client.request('POST /projections/{name}/switch', order)).data;
}

/** @throws CommandFailure if there is a difference */
async function verify(task: Task): Promise<void> {
  const params = { name: task.name };
  await task.client.request('POST /projections/{name}/verify', { params });
  const verification = await followVerification(task);
  const lines = verificationLines(verification);
  if (verification.failure === 'projection_damaged') {
    const { name, context } = task;
    context.output.note(`The active tables of ${name} are damaged: they could not be compared.`);
    return;
  }
  if (verification.state === 'passed') {
    for (const line of lines) task.context.output.note(line);
    return;
  }
  const exitCode = verification.state === 'differs' ? exitCodes.differs : exitCodes.failure;
  throw new CommandFailure(lines.join('\n'), { exitCode });
}

async function drop(task: Task): Promise<void> {
  const { context, client, name, values } = task;
  const beside = besideOf(await projectionOf(task));
  const generation = numberOf('generation', values.generation) ?? beside?.generation;
  if (generation === undefined) {
    throw new CommandFailure(`${name} has only one generation, the active one.`, {
      exitCode: exitCodes.refused,
    });
  }
  await confirm(context, values, `Drop the tables of generation ${generation} of ${name}?`);
  const params = { name, generation };
  const path = 'DELETE /projections/{name}/generations/{generation}';
  await say(task, (await client.request(path, { params })).data);
}

async function say(
  { context, values }: Task,
  projection: Projection,
  isWhole = false,
): Promise<void> {
  const isJson = values.json === true || isWhole;
  const lines = isJson
    ? [JSON.stringify(projection, null, isWhole ? 2 : 0)]
    : await tableLines([projection]);
  for (const line of lines) context.output.result(line);
}

const askEveryMs = 500;
/** Interval of lines without a terminal. */
const lineEveryMs = 5_000;

interface WatchContext {
  readonly context: Context;
  readonly client: Client;
  readonly name: string;
}

/** @throws ApiError */
async function projectionOf({
  client,
  name,
}: Pick<WatchContext, 'client' | 'name'>): Promise<Projection> {
  return (await client.request('GET /projections/{name}', { params: { name } })).data;
}

/** The generation besides the active one, if there is one. */
const besideOf = (projection: Projection): ProjectionGeneration | undefined =>
  projection.generations.find(({ generation }) => generation !== projection.active_generation);

/** The one that is built, or was last: the first tables of a projection are read while they are filled. */
const builtOf = (projection: Projection): ProjectionGeneration | undefined =>
  besideOf(projection) ?? projection.generations.find(({ state }) => state === 'building');

/**
 * Shows the progress of the build until it has caught up.
 * @throws CommandFailure when it failed, was dropped, or the user stopped waiting
 */
async function followBuilding(following: WatchContext): Promise<ProjectionGeneration> {
  const { context, name } = following;
  const { output } = context;
  const started = performance.now();
  let saidAt = -lineEveryMs;
  let first: number | undefined;
  return watched(following, (projection) => {
    first ??= builtOf(projection)?.generation;
    const built = projection.generations.find(({ generation }) => generation === first);
    if (built === undefined) throw new CommandFailure(`${name} is not being rebuilt.`);
    const { state, failure, progress: share } = built;
    if (state === 'failed') throw new CommandFailure(`The rebuild failed: ${failure ?? ''}.`);
    const now = performance.now();
    if (state !== 'building') {
      const seconds = (now - started) / 1000;
      output.note(
        `Generation ${built.generation} has caught up; followed for ${seconds.toFixed(1)} s.`,
      );
      return built;
    }
    const phase = built.is_paused ? 'building, paused' : 'building';
    const { rate_per_s: perSecond, seconds_left: secondsLeft } = built;
    const progress = { phase, share, perSecond, secondsLeft };
    if (output.isWatched) output.status(progressLine(progress, true));
    else if (now - saidAt >= lineEveryMs) {
      saidAt = now;
      output.note(progressLine(progress, false));
    }
    return null;
  });
}

/** Waits for the outcome of the running comparison. */
async function followVerification(context: WatchContext): Promise<Verification> {
  const { output } = context.context;
  return watched(context, (projection) => {
    const verification = besideOf(projection)?.verification ?? null;
    if (verification === null) {
      throw new CommandFailure(`Nothing of ${context.name} is being compared.`);
    }
    if (verification.state !== 'running') return verification;
    output.status('comparing …');
    return null;
  });
}

/** Polls until there is a result; Ctrl-C ends the polling, not the operation. */
async function watched<T>(
  context: WatchContext,
  look: (projection: Projection) => T | null,
): Promise<T> {
  using stopping = stopOnInterrupt(context.context);
  for (;;) {
    const found = look(await projectionOf(context));
    if (found !== null) return found;
    await sleep(askEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (stopping.signal.aborted) throw leftAlone(context.name);
  }
}

const leftAlone = (name: string): CommandFailure =>
  new CommandFailure(
    `It continues in the background. To see its progress: svc projections follow ${name}\n` +
      `To stop it: svc projections pause ${name}`,
    { exitCode: exitCodes.interrupted },
  );
