import type { JsonObject } from '../../kernel/stable-json.ts';
import { accountClient, asCommandFailure, confirm } from '../account.ts';
import type { ApiClient } from '../client.ts';
import { columns } from '../columns.ts';
import type { Command, Context } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { parseCommand } from '../options.ts';

const options = {
  'to-time': { type: 'string' },
  'to-offset': { type: 'string' },
  'to-start': { type: 'boolean' },
  'to-end': { type: 'boolean' },
  partition: { type: 'string', multiple: true },
  repeat: { type: 'boolean' },
  skip: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
  json: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof parseCommand<typeof options>>['values'];

/** @see src/modules/operations/consumer-groups/presenter.ts */
interface ShownGroup {
  readonly name: string;
  readonly topic: string;
  readonly resettable: boolean;
  readonly replay: string;
  readonly lag: number;
  readonly partitions: readonly {
    readonly partition: number;
    readonly start: number;
    readonly committed: number | null;
    readonly end: number;
    readonly lag: number;
    readonly reset: { readonly to: number; readonly applied_at: string | null } | null;
  }[];
}

interface ShownReset {
  readonly dry_run: boolean;
  readonly replayed: number;
  readonly skipped: number;
  readonly partitions: readonly {
    readonly partition: number;
    readonly from: number;
    readonly to: number;
    readonly replayed: number;
    readonly skipped: number;
    readonly state?: 'applied' | 'waiting';
  }[];
}

const usage = (message: string): CommandFailure => new CommandFailure(message, { isUsage: true });

export const consumers: Command = {
  name: 'consumers',
  usage: '<list|show|reset> [group]',
  summary: 'Show the positions of consumer groups, and reset them',
  help: `Words
  list                    each group: topic and lag
  show <group>            position, end and lag in each partition
  reset <group>           move its position: it reads again from there, or skips messages

Options of reset (one of the first four)
      --to-time <time>    the first message at or after it, for example 2026-05-01T12:00:00Z
      --to-offset <n>     with one --partition
      --to-start, --to-end
      --partition <n>     only this one; repeatable
      --repeat            repeat finished work, if the group can (webhooks are sent again)
      --skip              agree that unprocessed messages are skipped
      --dry-run           only print the effect
  -y, --yes               do not ask
      --json              the answer as JSON on stdout

Variables
  SVC_ACCOUNT_KEY         API key of the account
  SVC_HOSTPORT            address of the service (http://localhost:3003)

Exit codes
  0 done   1 failed   3 key missing or refused   4 refused or not confirmed

Examples
  svc consumers list
  svc consumers show svc.webhook-deliveries
  svc consumers reset svc.webhook-deliveries --to-time 2026-05-01T12:00:00Z --dry-run`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, options);
    const [word = 'list', name, ...rest] = positionals;
    if (rest.length > 0) throw usage(`"${rest.join(' ')}" is one word too many`);
    if (!['list', 'show', 'reset'].includes(word)) throw usage(`consumers has no "${word}"`);
    if (word !== 'list' && name === undefined)
      throw usage(`Name it: svc consumers ${word} <group>`);
    const client = accountClient(context);
    try {
      if (word === 'list') await list(context, client, values);
      else if (word === 'show') await show(context, client, values, name ?? '');
      else await reset(context, client, values, name ?? '');
    } catch (error) {
      throw asCommandFailure(error);
    }
  },
};

async function list({ output }: Context, client: ApiClient, { json }: Values): Promise<void> {
  const groups = await dataOf<ShownGroup[]>(client.call('GET', '/consumer-groups'));
  const rows = groups.map(({ name, topic, lag, resettable }) => {
    return [name, topic, resettable ? 'yes' : 'no', lag];
  });
  const lines = columns(['group', 'topic', 'resettable', 'lag'], rows, 3);
  say(output, json === true ? groups : lines);
}

async function show(
  { output }: Context,
  client: ApiClient,
  { json }: Values,
  name: string,
): Promise<void> {
  const path = `/consumer-groups/${encodeURIComponent(name)}`;
  const group = await dataOf<ShownGroup>(client.call('GET', path));
  const rows = group.partitions.map(({ partition, start, committed, end, lag, reset: moved }) => {
    const isWaiting = moved !== null && moved.applied_at === null;
    return [partition, start, committed ?? '-', end, lag, isWaiting ? `to ${moved.to}` : '-'];
  });
  output.note(`${group.name} reads ${group.topic}. ${group.replay}`);
  const head = ['partition', 'start', 'position', 'end', 'lag', 'reset waiting'];
  say(output, json === true ? group : columns(head, rows, 0));
}

async function reset(
  context: Context,
  client: ApiClient,
  values: Values,
  name: string,
): Promise<void> {
  const { output } = context;
  const path = `/consumer-groups/${encodeURIComponent(name)}/reset`;
  const body: JsonObject = {
    to: targetOf(values),
    ...(values.partition === undefined
      ? {}
      : { partitions: values.partition.map((text) => wholeNumber('partition', text)) }),
    ...(values.repeat === true ? { repeat: true } : {}),
    ...(values.skip === true ? { skip: true } : {}),
  };
  const planned = await dataOf<ShownReset>(client.call('POST', path, { ...body, dry_run: true }));
  const isPlanOnly = values['dry-run'] === true;
  const isJson = values.json === true;
  if (isPlanOnly || !isJson) say(output, isJson ? planned : resetLines(planned));
  if (isPlanOnly) return;
  const { replayed, skipped } = planned;
  const what = `at most ${replayed} messages again, ${skipped} left out`;
  await confirm(context, values, `Move ${name}: ${what}. Go on?`);
  const made = await dataOf<ShownReset>(client.call('POST', path, body));
  const waiting = made.partitions.filter(({ state }) => state === 'waiting').length;
  if (isJson) say(output, made);
  output.note(
    waiting === 0
      ? `${name} has moved.`
      : `${waiting} partitions move when somebody holds them: svc consumers show ${name}`,
  );
}

function targetOf(values: Values): JsonObject | string {
  const { 'to-time': time, 'to-offset': offset } = values;
  const targets = [
    ...(time === undefined ? [] : [{ time: timeOf(time) }]),
    ...(offset === undefined ? [] : [{ offset: wholeNumber('to-offset', offset) }]),
    ...(values['to-start'] === true ? ['start'] : []),
    ...(values['to-end'] === true ? ['end'] : []),
  ];
  const [target] = targets;
  if (target !== undefined && targets.length === 1) return target;
  throw usage('Say where to with one of --to-time, --to-offset, --to-start and --to-end');
}

function timeOf(text: string): string {
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  throw usage(`--to-time takes a time such as 2026-05-01T12:00:00Z, not "${text}"`);
}

function wholeNumber(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usage(`--${option} takes a whole number, not "${text}"`);
}

function resetLines({ partitions }: ShownReset): string[] {
  const rows = partitions.map(({ partition, from, to, replayed, skipped }) => {
    return [partition, from, to, replayed, skipped];
  });
  return columns(['partition', 'from', 'to', 'read again', 'left out'], rows, 0);
}

/** The shape is the service's promise. */
async function dataOf<T>(answer: ReturnType<ApiClient['call']>): Promise<T> {
  return ((await answer) as { readonly data: unknown }).data as T;
}

function say(output: Context['output'], what: readonly string[] | object): void {
  const isLines = (lines: object): lines is readonly string[] =>
    Array.isArray(lines) && lines.every((line) => typeof line === 'string');
  if (isLines(what)) for (const line of what) output.result(line);
  else output.result(JSON.stringify(what));
}
