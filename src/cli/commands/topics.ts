import type { Client, Topic, TopicMessage } from '../../client/index.ts';
import { accountHelp, withAccount } from '../account.ts';
import { showRows } from '../columns.ts';
import type { Command, Context } from '../context.ts';
import { usageError } from '../exit.ts';
import { parseCommand, wholeNumber } from '../options.ts';
import { limitOf, sinceOf } from '../service-command.ts';

const options = {
  partition: { type: 'string' },
  offset: { type: 'string' },
  since: { type: 'string' },
  key: { type: 'string' },
  limit: { type: 'string' },
  cursor: { type: 'string' },
  json: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof parseCommand<typeof options>>['values'];

interface Task {
  readonly context: Context;
  readonly client: Client;
  readonly values: Values;
  readonly name: string;
}

export const topics: Command = {
  name: 'topics',
  usage: '<list|show|messages> [topic]',
  summary: 'Show the public topics, their schemas and their messages',
  help: `Words
  list                    each topic: partitions, messages and the largest lag of a group
  show <topic>            settings, schemas, offsets and consumer groups, as JSON
  messages <topic>        the newest messages, decoded; sealed payloads stay sealed

Options of messages
      --partition <n>     only this one
      --offset <n>        from this offset of the partition on
      --since <time>      from this time on, for example 2026-05-01T12:00:00Z
      --key <key>         only messages with this key, newest first
      --limit <n>         at most this many (50)
      --cursor <cursor>   the page after the one that named it
      --json              the answer as JSON on stdout

${accountHelp}

Exit codes
  0 done   1 failed   3 key missing or refused

Examples
  svc topics list
  svc topics messages svc.runs.v1 --limit 5
  svc topics messages svc.records.v1 --partition 0 --offset 0 --json`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, options);
    const [word = 'list', name, ...rest] = positionals;
    if (rest.length > 0) throw usageError(`"${rest.join(' ')}" is one word too many`);
    const task = tasks[word];
    if (task === undefined) throw usageError(`topics has no "${word}"`);
    if (word !== 'list' && name === undefined)
      throw usageError(`Name the topic: svc topics ${word} <topic>`);
    await withAccount(context, (client) => task({ context, client, values, name: name ?? '' }));
  },
};

const tasks: Readonly<Record<string, (task: Task) => Promise<void>>> = { list, show, messages };

async function list({ context, client, values }: Task): Promise<void> {
  const { data } = await client.request('GET /topics');
  const heads = ['topic', 'key', 'partitions', 'messages', 'lag'];
  const cells = ({ name, key, partitions, messages_max: most, groups }: Topic) => {
    const lag = groups.reduce((largest, one) => Math.max(largest, one.lag), 0);
    return [name, key, partitions, most, lag];
  };
  showRows(context, values.json, data, heads, cells, 2);
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
  showRows(context, false, page.data, heads, cellsOf);
  if (page.next_cursor === null) return;
  context.output.note(`There are more: --cursor ${page.next_cursor}`);
}

const cellsOf = ({ partition, offset, timestamp, key, ...one }: TopicMessage): string[] => [
  `${partition}/${offset}`,
  timestamp ?? '-',
  key,
  one.kind === 'value' ? JSON.stringify(one.value) : [one.kind, one.error ?? ''].join(' ').trim(),
];
