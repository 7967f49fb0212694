import { accountClient, asCommandFailure, confirm } from '../account.ts';
import type { ApiClient } from '../client.ts';
import type { Command, Context } from '../context.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { parseCommand } from '../options.ts';
import { followBuilding, followVerification } from '../projections/watch.ts';
import {
  besideOf,
  dropGeneration,
  findProjection,
  listProjections,
  orderProjection,
  type ShownProjection,
} from '../projections/shown.ts';
import { sizeText, tableLines, verificationLines } from '../projections/table.ts';

const options = {
  pace: { type: 'string' },
  switch: { type: 'boolean' },
  force: { type: 'boolean' },
  detach: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  generation: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  json: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof parseCommand<typeof options>>['values'];

/** The context of a subcommand of `projections`. */
interface Task {
  readonly context: Context;
  readonly client: ApiClient;
  readonly name: string;
  readonly values: Values;
}

const usage = (message: string): CommandFailure => new CommandFailure(message, { isUsage: true });

export const projections: Command = {
  name: 'projections',
  usage: '<list|show|rebuild|…> [name]',
  summary: 'Show and rebuild the tables that are derived from the log',
  help: `Words
  list                    each projection: generations, position, end, lag, rows
  show <name>             one projection as JSON
  rebuild <name>          rebuild the tables beside the active ones, and compare them
  follow <name>           show the progress of a rebuild
  verify <name>           compare the built tables with the active ones
  switch <name>           activate the built tables
  rollback <name>         activate the former tables again
  pause, resume <name>    pause and resume the build (or --generation)
  drop <name>             drop the inactive tables; ends a rebuild (or --generation)

Options
      --pace <1-100>      rebuild: share of the time it may take, in percent (75)
      --switch            rebuild: activate the tables if they have no difference
      --detach            rebuild: do not wait
      --dry-run           rebuild: only print how much it would read and store
      --force             switch: also without verification
      --generation <n>    pause, resume, drop: this generation
  -y, --yes               do not ask
      --json              the projection as JSON on stdout

Variables
  SVC_ACCOUNT_KEY         API key of the account
  SVC_HOSTPORT            address of the service (http://localhost:3003)

Exit codes
  0 done   1 failed   3 key missing or refused   4 refused or not confirmed   5 differences found
  130 interrupted: the operation continues

Examples
  svc projections list
  svc projections rebuild records --switch --yes
  svc projections rollback records`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, options);
    const [word = 'list', name, ...rest] = positionals;
    if (rest.length > 0) throw usage(`"${rest.join(' ')}" is one word too many`);
    const task = tasks[word];
    if (task === undefined && word !== 'list') throw usage(`projections has no "${word}"`);
    const client = accountClient(context);
    try {
      if (task === undefined) await list(context, client, values);
      else if (name === undefined) throw usage(`Name it: svc projections ${word} <name>`);
      else await task({ context, client, name, values });
    } catch (error) {
      throw asCommandFailure(error);
    }
  },
};

const tasks: Readonly<Record<string, (task: Task) => Promise<void>>> = {
  show: async (task) => say(task, await findProjection(task.client, task.name), true),
  rebuild,
  follow: async (task) => {
    await followBuilding(task);
    say(task, await findProjection(task.client, task.name));
  },
  verify: async (task) => {
    await orderProjection(task.client, task.name, 'verify');
    await verified(task);
    say(task, await findProjection(task.client, task.name));
  },
  async switch(task) {
    await confirm(task.context, task.values, `Read the built tables of ${task.name} from now on?`);
    const body = { force: task.values.force === true };
    say(task, await orderProjection(task.client, task.name, 'switch', body));
  },
  async rollback(task) {
    await confirm(task.context, task.values, `Read the former tables of ${task.name} again?`);
    say(task, await orderProjection(task.client, task.name, 'rollback'));
  },
  pause: async (task) =>
    say(task, await orderProjection(task.client, task.name, 'pause', named(task))),
  resume: async (task) =>
    say(task, await orderProjection(task.client, task.name, 'resume', named(task))),
  drop,
};

async function list(context: Context, client: ApiClient, values: Values): Promise<void> {
  const found = await listProjections(client);
  const lines = values.json === true ? [JSON.stringify(found)] : tableLines(found);
  for (const line of lines) context.output.result(line);
}

async function rebuild(task: Task): Promise<void> {
  const { client, context, name, values } = task;
  const before = await findProjection(client, name);
  const read = before.generations.find((one) => one.generation === before.active_generation);
  const what = `${read?.end ?? 0} offsets of ${before.topic}, about ${sizeText(read?.bytes ?? 0)} of disk`;
  if (values['dry-run'] === true) {
    context.output.note(`A rebuild of ${name} reads ${what}.`);
    say(task, before);
    return;
  }
  const body = values.pace === undefined ? {} : { pace_percent: numberOf('pace', values.pace) };
  await confirm(task.context, task.values, `Rebuild ${name}: ${what}. Go on?`);
  await orderProjection(client, name, 'rebuild', body);
  if (values.detach === true) {
    say(task, await findProjection(client, name));
    return;
  }
  await followBuilding(task);
  await orderProjection(client, name, 'verify');
  await verified(task);
  if (values.switch !== true) {
    context.output.note(`To activate it: svc projections switch ${name}`);
    say(task, await findProjection(client, name));
    return;
  }
  const switched = await orderProjection(client, name, 'switch', {});
  context.output.note(`Generation ${switched.active_generation} is active now.`);
  say(task, switched);
}

/** @throws CommandFailure if there is a difference */
async function verified(task: Task): Promise<void> {
  const verification = await followVerification(task);
  const lines = verificationLines(verification);
  if (verification.state === 'passed') {
    for (const line of lines) task.context.output.note(line);
    return;
  }
  const exitCode = verification.state === 'differs' ? exitCodes.differs : exitCodes.failure;
  throw new CommandFailure(lines.join('\n'), { exitCode });
}

async function drop(task: Task): Promise<void> {
  const { client, name, values } = task;
  const beside = besideOf(await findProjection(client, name));
  const generation = values.generation ?? (beside === undefined ? null : String(beside.generation));
  if (generation === null) {
    throw new CommandFailure(`${name} has one generation, which is read.`, {
      exitCode: exitCodes.refused,
    });
  }
  await confirm(
    task.context,
    task.values,
    `Drop the tables of generation ${generation} of ${name}?`,
  );
  say(task, await dropGeneration(client, name, generation));
}

function say({ context, values }: Task, projection: ShownProjection, isWhole = false): void {
  const isJson = values.json === true || isWhole;
  const lines = isJson
    ? [JSON.stringify(projection, null, isWhole ? 2 : 0)]
    : tableLines([projection]);
  for (const line of lines) context.output.result(line);
}

const named = ({ values }: Task): Record<string, number> =>
  values.generation === undefined ? {} : { generation: numberOf('generation', values.generation) };

function numberOf(option: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usage(`--${option} takes a whole number, not "${text}"`);
}
