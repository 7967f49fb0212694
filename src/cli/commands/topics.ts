import type { Client, Topic, TopicMessage } from '#client/index.ts';
import { accountHelp, withAccount } from '../account.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import type { Context } from '../context.ts';
import { CommandFailure, usageError } from '../exit.ts';
import { wholeNumber } from '../options.ts';
import { limitOf, sinceOf } from '../service-command.ts';

const options = {
  partition: ['--partition <n>', 'messages: only this one'],
  offset: ['--offset <n>', 'messages: from this offset of the partition on'],
  since: ['--since <time>', 'messages: from this time on, for example 2026-05-01T12:00:00Z'],
  key: ['--key <key>', 'messages: only with this key, newest first'],
  limit: ['--limit <n>', 'messages: at most this many (50)'],
  cursor: ['--cursor <cursor>', 'messages: the page after the one that named it'],
  json: ['--json', 'the answer as JSON on stdout'],
  principal: ['--principal <name>', 'grant: whose rights, for example User:reports'],
  read: [
    '--read <topic>',
    'grant: a topic to read, or its first part and "*"; several with commas',
  ],
  group: ['--group <prefix>', 'grant: first part of the names of its consumer groups (data.)'],
  service: ['--service', 'grant: what the service itself needs, instead of --read'],
  apply: ['--apply', 'grant: add the rights at the brokers of SVC_LOG_URL, as its user'],
} as const satisfies Options;

type Values = ValuesOf<typeof options>;

interface Task {
  readonly context: Context;
  readonly client: Client;
  readonly values: Values;
  readonly name: string;
}

export const topics = defineCommand({
  name: 'topics',
  usage: '',
  summary: 'Show the public topics, their schemas and their messages',
  words: {
    list: 'each topic: partitions, messages and the largest lag of a group',
    'show <topic>': 'settings, schemas, offsets and consumer groups, as JSON',
    'messages <topic>': 'the newest messages, decoded; sealed payloads stay sealed',
    grant: 'commands that give a user of Kafka the rights it needs, and no others',
  },
  defaultWord: 'list',
  options,
  help: `${accountHelp}

grant needs no key and no running service: it reads SVC_TOPIC_PREFIX, and SVC_LOG_URL with --apply.

Exit codes
  0 done   1 failed   3 key missing or refused

Examples
  svc topics list
  svc topics messages svc.runs.v1 --limit 5
  svc topics messages svc.records.v1 --partition 0 --offset 0 --json
  svc topics grant --principal User:reports --read svc.records.v1`,

  async run({ word, positionals, values }, context) {
    const [name = ''] = positionals;
    if (word === 'grant') return grant(context, values);
    await withAccount(context, (client) => tasks[word]({ context, client, values, name }));
  },
});

const tasks = { list, show, messages };

async function list({ context, client, values }: Task): Promise<void> {
  const { data } = await client.request('GET /topics');
  const heads = ['topic', 'key', 'partitions', 'messages', 'lag'];
  const cells = ({ name, key, partitions, messages_max: most, groups }: Topic) => {
    const lag = groups.reduce((largest, one) => Math.max(largest, one.lag), 0);
    return [name, key, partitions, most, lag];
  };
  await showRows(context, values.json, data, heads, cells, 2);
}

async function show({ context, client, values, name }: Task): Promise<void> {
  const { data } = await client.request('GET /topics/{name}', { params: { name } });
  context.output.result(JSON.stringify(data, null, values.json === true ? 0 : 2));
}

async function messages({ context, client, values, name }: Task): Promise<void> {
  const { partition, offset, since, key, limit, cursor } = values;
  const numberOf = (option: string, text: string | undefined) =>
    text === undefined ? undefined : wholeNumber(option, text);
  const page = await client.request('GET /topics/{name}/messages', {
    params: { name },
    query: {
      partition: numberOf('partition', partition),
      offset: numberOf('offset', offset),
      since: sinceOf(since),
      key,
      limit: limitOf(limit),
      cursor,
    },
  });
  if (values.json === true) {
    context.output.result(JSON.stringify(page));
    return;
  }
  const heads = ['position', 'time', 'key', 'message'];
  await showRows(context, false, page.data, heads, cellsOf);
  if (page.next_cursor === null) return;
  context.output.note(`There are more: --cursor ${page.next_cursor}`);
}

const cellsOf = ({ partition, offset, timestamp, key, ...one }: TopicMessage): string[] => [
  `${partition}/${offset}`,
  timestamp ?? '-',
  key,
  one.kind === 'value' ? JSON.stringify(one.value) : [one.kind, one.error ?? ''].join(' ').trim(),
];

async function grant(context: Context, values: Values): Promise<void> {
  const { principal, read, group = 'data.', service = false, apply = false } = values;
  if (principal === undefined) throw usageError('Name the user: --principal User:<name>');
  const topics = (read ?? '').split(',').filter((name) => name !== '');
  if (service === topics.length > 0) {
    throw usageError('Name what it reads, --read <topic>, or --service for the service itself.');
  }
  const flags = [...(service ? ['--service'] : []), ...(apply ? ['--apply'] : [])];
  const code = await context.runProgram('rights', [...flags, '--', principal, group, ...topics]);
  if (code !== 0) throw new CommandFailure('No right was granted.');
}
