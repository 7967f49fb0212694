import type { Client, ConsumerGroupReset, Input } from '../../client/index.ts';
import { accountHelp, confirm, withAccount } from '../account.ts';
import { columns } from '../columns.ts';
import type { Command, Context } from '../context.ts';
import { usageError } from '../exit.ts';
import { parseCommand, wholeNumber } from '../options.ts';

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
type Reset = Input<'POST /consumer-groups/{name}/reset'>['body'];

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

${accountHelp}

Exit codes
  0 done   1 failed   3 key missing or refused   4 refused or not confirmed

Examples
  svc consumers list
  svc consumers show svc.webhook-deliveries
  svc consumers reset svc.webhook-deliveries --to-time 2026-05-01T12:00:00Z --dry-run`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, options);
    const [word = 'list', name, ...rest] = positionals;
    if (rest.length > 0) throw usageError(`"${rest.join(' ')}" is one word too many`);
    if (!['list', 'show', 'reset'].includes(word)) throw usageError(`consumers has no "${word}"`);
    if (word !== 'list' && name === undefined)
      throw usageError(`Name the consumer group: svc consumers ${word} <group>`);
    await withAccount(context, async (client) => {
      if (word === 'list') await list(context, client, values);
      else if (word === 'show') await show(context, client, values, name ?? '');
      else await reset(context, client, values, name ?? '');
    });
  },
};

async function list({ output }: Context, client: Client, { json }: Values): Promise<void> {
  const { data: groups } = await client.request('GET /consumer-groups');
  const rows = groups.map(({ name, topic, lag, resettable }) => {
    return [name, topic, resettable ? 'yes' : 'no', lag];
  });
  const lines = columns(['group', 'topic', 'resettable', 'lag'], rows, 3);
  say(output, json === true ? groups : lines);
}

async function show(
  { output }: Context,
  client: Client,
  { json }: Values,
  name: string,
): Promise<void> {
  const { data: group } = await client.request('GET /consumer-groups/{name}', { params: { name } });
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
  client: Client,
  values: Values,
  name: string,
): Promise<void> {
  const { output } = context;
  const body: Reset = {
    to: targetOf(values),
    partitions: values.partition?.map((text) => wholeNumber('partition', text)),
    repeat: values.repeat,
    skip: values.skip,
  };
  const move = (isDry: boolean) =>
    client.request('POST /consumer-groups/{name}/reset', {
      params: { name },
      body: { ...body, dry_run: isDry },
    });
  const { data: planned } = await move(true);
  const isPlanOnly = values['dry-run'] === true;
  const isJson = values.json === true;
  if (isPlanOnly || !isJson) say(output, isJson ? planned : resetLines(planned));
  if (isPlanOnly) return;
  const { replayed, skipped } = planned;
  const what = `at most ${replayed} messages are read again, ${skipped} are skipped`;
  await confirm(context, values, `Move ${name}: ${what}. Continue?`);
  const { data: made } = await move(false);
  const waiting = made.partitions.filter(({ state }) => state === 'waiting').length;
  if (isJson) say(output, made);
  output.note(
    waiting === 0
      ? `${name} has moved.`
      : `${waiting} partitions move once a process owns them: svc consumers show ${name}`,
  );
}

function targetOf(values: Values): Reset['to'] {
  const { 'to-time': time, 'to-offset': offset } = values;
  const targets = [
    ...(time === undefined ? [] : [{ time: timeOf(time) }]),
    ...(offset === undefined ? [] : [{ offset: wholeNumber('to-offset', offset) }]),
    ...(values['to-start'] === true ? (['start'] as const) : []),
    ...(values['to-end'] === true ? (['end'] as const) : []),
  ];
  const [target] = targets;
  if (target !== undefined && targets.length === 1) return target;
  throw usageError(
    'Choose the position with one of --to-time, --to-offset, --to-start and --to-end',
  );
}

function timeOf(text: string): string {
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  throw usageError(`--to-time takes a time such as 2026-05-01T12:00:00Z, not "${text}"`);
}

function resetLines({ partitions }: ConsumerGroupReset): string[] {
  const rows = partitions.map(({ partition, from, to, replayed, skipped }) => {
    return [partition, from, to, replayed, skipped];
  });
  return columns(['partition', 'from', 'to', 'read again', 'skipped'], rows, 0);
}

function say(output: Context['output'], what: readonly string[] | object): void {
  const isLines = (lines: object): lines is readonly string[] =>
    Array.isArray(lines) && lines.every((line) => typeof line === 'string');
  if (isLines(what)) for (const line of what) output.result(line);
  else output.result(JSON.stringify(what));
}
