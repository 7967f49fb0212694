import type { Client, DeadLetter } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { accountHelp, confirm, withAccount } from '../account.ts';
import { columns, showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import type { Context } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { uncheckedWord } from '../options.ts';
import { limitOf } from '../service-command.ts';

const options = {
  state: ['--state <state>', 'list: parked, retrying, resolved or dropped'],
  consumer: ['--consumer <group>', 'list: of this consumer group'],
  topic: ['--topic <topic>', 'list: from this topic'],
  limit: ['--limit <n>', 'list: at most this many (100)'],
  yes: ['-y, --yes', 'drop: do not ask'],
  json: ['--json', 'the answer as JSON on stdout'],
} as const satisfies Options;

type Values = ValuesOf<typeof options>;

interface Task {
  readonly context: Context;
  readonly client: Client;
  readonly values: Values;
  readonly ids: readonly string[];
}

export const deadLetters = defineCommand({
  name: 'dead-letters',
  usage: '',
  summary: 'List, retry and drop messages that consumers could not process',
  words: {
    list: 'newest first',
    'show <id>': 'one dead letter with its message, without payloads and sealed values',
    'retry <id...>': 'return it to its consumer',
    'drop <id...>': 'discard it for good',
  },
  defaultWord: 'list',
  options,
  help: `${accountHelp}

Exit codes
  0 done   1 failed, or the message was parked again   3 key missing or refused
  4 refused or not confirmed

Examples
  svc dead-letters list --state parked
  svc dead-letters retry 0192f0c1-7a3b-7c4d-8e5f-001122334455`,

  async run({ word, positionals: ids, values }, context) {
    await withAccount(context, (client) => tasks[word]({ context, client, values, ids }));
  },
});

const tasks = { list, show, retry, drop };

async function list({ context, client, values }: Task): Promise<void> {
  const { state, consumer, topic, limit } = values;
  const page = await client.request('GET /dead-letters', {
    query: { state: uncheckedWord(state), consumer, topic, limit: limitOf(limit) },
  });
  await showRows(context, values.json, page.data, heads, cells);
  if (page.next_cursor !== null) context.output.note('There are more: raise --limit or filter.');
}

const heads = ['id', 'state', 'consumer', 'message', 'error', 'since'];

const cells = ({ topic, partition, offset, ...one }: DeadLetter): string[] => [
  one.id,
  one.state,
  one.consumer,
  `${topic}/${partition}/${offset}`,
  one.error?.code ?? '-',
  one.parked_at,
];

async function show({ context, client, ids }: Task): Promise<void> {
  for (const id of ids) {
    const { data } = await client.request('GET /dead-letters/{id}', { params: { id } });
    context.output.result(JSON.stringify(data, null, 2));
  }
}

async function retry({ context, client, values, ids }: Task): Promise<void> {
  const { output } = context;
  const failed: string[] = [];
  for (const id of ids) {
    const { data: deadLetter } = await client.request('POST /dead-letters/{id}/retry', {
      params: { id },
    });
    if (values.json === true) output.result(JSON.stringify(deadLetter));
    else
      output.result((await columns(heads, [cells(deadLetter)], heads.length)).slice(1).join('\n'));
    if (deadLetter.state === 'parked') failed.push(`${id}: ${deadLetter.error?.message ?? ''}`);
  }
  if (failed.length > 0) throw new CommandFailure(`Parked again:\n  ${failed.join('\n  ')}`);
}

async function drop({ context, client, values, ids }: Task): Promise<void> {
  await confirm(context, values, `Drop ${counted(ids.length, 'dead letter')} for good?`);
  for (const id of ids) {
    await client.request('DELETE /dead-letters/{id}', { params: { id } });
    context.output.note(`Dropped ${id}`);
  }
}
