import type { Client } from '../../client/index.ts';
import { showRows } from '../columns.ts';
import type { Command, Context } from '../context.ts';
import { usageError } from '../exit.ts';
import { parseCommand, uncheckedWord } from '../options.ts';
import {
  inEnvironment,
  listHelp,
  listOptions,
  listQuery,
  serviceHelp,
} from '../service-command.ts';

const options = {
  ...listOptions,
  kind: { type: 'string' },
  state: { type: 'string' },
  endpoint: { type: 'string' },
} as const;
type Values = ReturnType<typeof parseCommand<typeof options>>['values'];

interface Task {
  readonly context: Context;
  readonly client: Client;
  readonly values: Values;
  readonly params: { readonly id: string };
}

export const webhooks: Command = {
  name: 'webhooks',
  usage: '<list|show|resend|endpoints|test|signing-key> [id]',
  summary: 'List and resend webhooks to the application',
  help: `Words
  list               webhooks, one line for each endpoint, newest first
  show <id>          one webhook with its attempts
  resend <id>        send it again
  endpoints          addresses of the application
  test <endpoint>    send a test webhook to an endpoint
  signing-key        the key that signs them; the read is audited

Options (all but --environment and --json are of list)
      --kind <kind>          only of this kind
      --state <state>        only in this state
      --endpoint <id>        only to this endpoint
${listHelp}

${serviceHelp}

Examples
  svc webhooks list -e dev
  svc webhooks endpoints -e dev --json`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, options);
    const [word = 'list', id, ...others] = positionals;
    const task = Object.hasOwn(tasks, word) ? tasks[word] : undefined;
    if (task === undefined) throw usageError(`webhooks has no "${word}"`);
    const needsId = !['list', 'endpoints', 'signing-key'].includes(word);
    if (others.length > 0 || needsId !== (id !== undefined)) {
      throw usageError(`webhooks ${word} takes ${needsId ? 'one' : 'no'} id`);
    }
    const params = { id: id ?? '' };
    await inEnvironment(context, values, (client) => task({ context, client, values, params }));
  },
};

const tasks: Readonly<Record<string, (task: Task) => Promise<void>>> = {
  async list({ context, client, values }) {
    const query = {
      ...listQuery(values),
      kind: uncheckedWord(values.kind),
      state: uncheckedWord(values.state),
      endpoint_id: values.endpoint,
    };
    const { data } = await client.request('GET /webhook-messages', { query });
    const heads = ['webhook', 'kind', 'state', 'endpoint', 'attempts', 'created'];
    showRows(context, values.json, data, heads, (one) => [
      one.id,
      one.kind,
      one.state,
      one.endpoint_id,
      one.attempts,
      one.created_at,
    ]);
  },
  show: async (task) => print(task, await task.client.request('GET /webhook-messages/{id}', task)),
  resend: async (task) =>
    print(task, await task.client.request('POST /webhook-messages/{id}/resend', task)),
  async endpoints({ context, client, values }) {
    const { data } = await client.request('GET /webhook-endpoints');
    showRows(context, values.json, data, ['endpoint', 'url'], ({ id, url }) => [id, url]);
  },
  test: async (task) =>
    print(task, await task.client.request('POST /webhook-endpoints/{id}/test', task)),
  async 'signing-key'({ context, client, values }) {
    const { data } = await client.request('GET /environment/webhook-signing-key');
    context.output.result(values.json === true ? JSON.stringify(data) : data.webhook_signing_key);
  },
};

function print({ context, values }: Task, answer: object): void {
  context.output.result(JSON.stringify(answer, null, values.json === true ? 0 : 2));
}
