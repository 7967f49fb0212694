import type { Client, ConsumerGroup, ConsumerGroupReset, Input } from '#client/index.ts';
import { accountHelp, confirm, withAccount } from '../account.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../exit.ts';
import { wholeNumber } from '../options.ts';

export const resetOptions = {
  'to-time': [
    '--to-time <time>',
    'reset: the first message at or after it, for example 2026-05-01T12:00:00Z',
  ],
  'to-offset': ['--to-offset <n>', 'reset: this offset, with one --partition'],
  'to-start': ['--to-start', 'reset: the first message that the topic still has'],
  'to-end': ['--to-end', 'reset: after the last message'],
  partition: ['--partition <n>', 'reset: only this one; repeatable', 'repeatable'],
  repeat: ['--repeat', 'reset: repeat finished work, if the group can (webhooks are sent again)'],
  skip: ['--skip', 'reset: agree that unprocessed messages are skipped'],
  'dry-run': ['--dry-run', 'reset: only print the effect'],
  yes: ['-y, --yes', 'reset: do not ask'],
  json: ['--json', 'the answer as JSON on stdout'],
} as const satisfies Options;

type Values = ValuesOf<typeof resetOptions>;
type Reset = Input<'POST /consumer-groups/{name}/reset'>['body'];

export const consumers = defineCommand({
  name: 'consumers',
  usage: '',
  summary: 'Show the positions of consumer groups, and reset them',
  about: 'A reset takes one of --to-time, --to-offset, --to-start and --to-end.',
  words: {
    list: 'each group: topic and lag',
    'show <group>': 'position, end and lag in each partition',
    'reset <group>': 'move its position: it reads again from there, or skips messages',
  },
  defaultWord: 'list',
  options: resetOptions,
  help: `${accountHelp}

Exit codes
  0 done   1 failed   3 key missing or refused   4 refused or not confirmed

Examples
  svc consumers list
  svc consumers show svc.webhook-deliveries
  svc consumers reset svc.webhook-deliveries --to-time 2026-05-01T12:00:00Z --dry-run`,

  async run({ word, positionals, values }, context) {
    const [name = ''] = positionals;
    await withAccount(context, async (client) => {
      if (word === 'list') await list(context, client, values);
      else if (word === 'show') await show(context, client, values, name);
      else await resetGroup(context, client, values, name);
    });
  },
});

async function list(context: Context, client: Client, { json }: Values): Promise<void> {
  const { data: groups } = await client.request('GET /consumer-groups');
  const heads = ['group', 'topic', 'resettable', 'lag'];
  const cells = ({ name, topic, resettable, lag }: ConsumerGroup) =>
    [name, topic, resettable ? 'yes' : 'no', lag] as const;
  await showRows(context, json, groups, heads, cells, 3);
}

async function show(
  context: Context,
  client: Client,
  { json }: Values,
  name: string,
): Promise<void> {
  const { output } = context;
  const { data: group } = await client.request('GET /consumer-groups/{name}', { params: { name } });
  output.note(`${group.name} reads ${group.topic}. ${group.replay}`);
  if (json === true) {
    output.result(JSON.stringify(group));
    return;
  }
  const heads = ['partition', 'start', 'position', 'end', 'lag', 'reset waiting'];
  const cells = ({ reset: moved, ...one }: ConsumerGroup['partitions'][number]) => {
    const waiting = moved?.applied_at === null ? `to ${moved.to}` : '-';
    return [one.partition, one.start, one.committed ?? '-', one.end, one.lag, waiting];
  };
  await showRows(context, false, group.partitions, heads, cells, 0);
}

/** Prints the effect, asks, and moves the position. @throws CommandFailure without confirmation */
export async function resetGroup(
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
  if (isPlanOnly || !isJson) await showReset(context, planned, isJson);
  if (isPlanOnly) return;
  const { replayed, skipped } = planned;
  const what = `at most ${replayed} messages are read again, ${skipped} are skipped`;
  await confirm(context, values, `Move ${name}: ${what}. Continue?`);
  const { data: made } = await move(false);
  const waiting = made.partitions.filter(({ state }) => state === 'waiting').length;
  if (isJson) await showReset(context, made, true);
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

async function showReset(
  context: Context,
  reset: ConsumerGroupReset,
  isJson: boolean,
): Promise<void> {
  if (isJson) {
    context.output.result(JSON.stringify(reset));
    return;
  }
  const heads = ['partition', 'from', 'to', 'read again', 'skipped'];
  const cells = (one: ConsumerGroupReset['partitions'][number]) =>
    [one.partition, one.from, one.to, one.replayed, one.skipped] as const;
  await showRows(context, false, reset.partitions, heads, cells, 0);
}

export const replay = defineCommand({
  name: 'replay',
  usage: '<group>',
  summary: 'Have a consumer group read messages of its topic again',
  about: `Moves the position of the group back, as svc consumers reset does, and repeats finished work where the group can:
webhooks are sent again. What that means for a group is printed by svc consumers show. Prints the effect and asks first.`,
  options: resetOptions,
  help: `${accountHelp}

Exit codes
  0 done   1 failed   3 key missing or refused   4 refused or not confirmed

Examples
  svc replay svc.webhook-deliveries --to-time 2026-05-01T12:00:00Z --dry-run`,

  async run({ positionals, values }, context) {
    const [group = ''] = positionals;
    await withAccount(context, (client) =>
      resetGroup(context, client, { ...values, repeat: true }, group),
    );
  },
});
