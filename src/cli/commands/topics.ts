import type { Client, Topic, TopicMessage } from '#client/index.ts';
import { accountHelp, withAccount } from '../account.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import type { Context } from '../context.ts';
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
  },
  defaultWord: 'list',
  options,
  help: `${accountHelp}

Exit codes
  0 done   1 failed   3 key missing or refused

Examples
  svc topics list
  svc topics messages svc.runs.v1 --limit 5
  svc topics messages svc.records.v1 --partition 0 --offset 0 --json`,

  async run({ word, positionals, values }, context) {
    const [name = ''] = positionals;
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
