import { accountClient, asCommandFailure, confirm } from '../account.ts';
import type { ApiClient } from '../client.ts';
import { columns } from '../columns.ts';
import type { Command, Context } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { parseCommand } from '../options.ts';

const options = {
  state: { type: 'string' },
  consumer: { type: 'string' },
  topic: { type: 'string' },
  limit: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  json: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof parseCommand<typeof options>>['values'];

/** @see src/modules/operations/dead-letters/presenter.ts */
interface ShownDeadLetter {
  readonly id: string;
  readonly state: string;
  readonly consumer: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly attempts: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly parked_at: string;
}

const usage = (message: string): CommandFailure => new CommandFailure(message, { isUsage: true });

interface Task {
  readonly context: Context;
  readonly client: ApiClient;
  readonly values: Values;
  readonly ids: readonly string[];
}

export const deadLetters: Command = {
  name: 'dead-letters',
  usage: '<list|show|retry|drop> [id…]',
  summary: 'List, retry and drop messages that consumers could not process',
  help: `Words
  list                    newest first
  show <id>               one dead letter with its message, without payloads and sealed values
  retry <id…>             return it to its consumer
  drop <id…>              discard it for good

Options
      --state <state>     list: parked, retrying, resolved or dropped
      --consumer <group>  list: of this consumer group
      --topic <topic>     list: from this topic
      --limit <n>         list: at most this many (100)
  -y, --yes               drop: do not ask
      --json              the answer as JSON on stdout

Variables
  SVC_ACCOUNT_KEY         API key of the account
  SVC_HOSTPORT            address of the service (http://localhost:3003)

Exit codes
  0 done   1 failed, or the message was parked again   3 key missing or refused
  4 refused or not confirmed

Examples
  svc dead-letters list --state parked
  svc dead-letters retry 0192f0c1-7a3b-7c4d-8e5f-001122334455`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, options);
    const [word = 'list', ...ids] = positionals;
    const task = tasks[word];
    if (task === undefined) throw usage(`dead-letters has no "${word}"`);
    if (word !== 'list' && ids.length === 0) throw usage(`Name it: svc dead-letters ${word} <id>`);
    const client = accountClient(context);
    try {
      await task({ context, client, values, ids });
    } catch (error) {
      throw asCommandFailure(error);
    }
  },
};

const tasks: Readonly<Record<string, (task: Task) => Promise<void>>> = { list, show, retry, drop };

async function list({ context, client, values }: Task): Promise<void> {
  const { state, consumer, topic, limit } = values;
  const wanted = Object.entries({ state, consumer, topic, limit }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const query = new URLSearchParams(wanted).toString();
  const page = (await client.call(
    'GET',
    `/dead-letters${query === '' ? '' : `?${query}`}`,
  )) as unknown as {
    readonly data: readonly ShownDeadLetter[];
    readonly next_cursor: string | null;
  };
  const { output } = context;
  if (values.json === true) output.result(JSON.stringify(page.data));
  else for (const line of deadLetterLines(page.data)) output.result(line);
  if (page.next_cursor !== null) output.note('There are more: raise --limit or filter.');
}

const heads = ['id', 'state', 'consumer', 'message', 'error', 'since'];

function deadLetterLines(deadLetters: readonly ShownDeadLetter[]): string[] {
  const rows = deadLetters.map(
    ({ id, state, consumer, topic, partition, offset, error, parked_at }) => {
      return [
        id,
        state,
        consumer,
        `${topic}/${partition}/${offset}`,
        error?.code ?? '-',
        parked_at,
      ];
    },
  );
  return columns(heads, rows, heads.length);
}

async function show({ context, client, ids }: Task): Promise<void> {
  for (const id of ids) {
    context.output.result(
      JSON.stringify(await deadLetterOf(client.call('GET', pathOf(id))), null, 2),
    );
  }
}

async function retry({ context, client, values, ids }: Task): Promise<void> {
  const { output } = context;
  const failed: string[] = [];
  for (const id of ids) {
    const deadLetter = await deadLetterOf(client.call('POST', `${pathOf(id)}/retry`));
    if (values.json === true) output.result(JSON.stringify(deadLetter));
    else for (const line of deadLetterLines([deadLetter]).slice(1)) output.result(line);
    if (deadLetter.state === 'parked') failed.push(`${id}: ${deadLetter.error?.message ?? ''}`);
  }
  if (failed.length > 0) throw new CommandFailure(`Parked again:\n  ${failed.join('\n  ')}`);
}

async function drop({ context, client, values, ids }: Task): Promise<void> {
  await confirm(context, values, `Drop ${ids.length} dead letters for good?`);
  for (const id of ids) {
    await client.call('DELETE', pathOf(id));
    context.output.note(`${id} is dropped.`);
  }
}

const pathOf = (id: string): string => `/dead-letters/${encodeURIComponent(id)}`;

/** The shape is the service's promise. */
async function deadLetterOf(answer: ReturnType<ApiClient['call']>): Promise<ShownDeadLetter> {
  return ((await answer) as unknown as { readonly data: ShownDeadLetter }).data;
}
