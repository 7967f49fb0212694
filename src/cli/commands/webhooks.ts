import type { Client } from '#client/index.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import type { Context } from '../context.ts';
import { uncheckedWord } from '../options.ts';
import { inEnvironment, listOptions, listQuery, serviceHelp } from '../service-command.ts';

const options = {
  ...listOptions,
  kind: ['--kind <kind>', 'only of this kind'],
  state: ['--state <state>', 'only in this state'],
  endpoint: ['--endpoint <id>', 'only to this endpoint'],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

interface Task {
  readonly context: Context;
  readonly client: Client;
  readonly values: Values;
  readonly params: { readonly id: string };
}

export const webhooks = defineCommand({
  name: 'webhooks',
  usage: '',
  summary: 'List and resend webhooks to the application',
  about: 'The filters are those of list.',
  words: {
    list: 'webhooks, one line for each endpoint, newest first',
    'show <id>': 'one webhook with its attempts',
    'resend <id>': 'send it again',
    endpoints: 'addresses of the application',
    'test <endpoint>': 'send a test webhook to an endpoint',
    'signing-key': 'the key that signs them; the read is audited',
  },
  defaultWord: 'list',
  options,
  help: `${serviceHelp}

Examples
  svc webhooks list -e dev
  svc webhooks endpoints -e dev --json`,

  async run({ word, positionals, values }, context) {
    const [id = ''] = positionals;
    const task = (client: Client) => tasks[word]({ context, client, values, params: { id } });
    await inEnvironment(context, values, task);
  },
});

const tasks = {
  async list({ context, client, values }: Task) {
    const query = {
      ...listQuery(values),
      kind: uncheckedWord(values.kind),
      state: uncheckedWord(values.state),
      endpoint_id: values.endpoint,
    };
    const { data } = await client.request('GET /webhook-messages', { query });
    const heads = ['webhook', 'kind', 'state', 'endpoint', 'attempts', 'created'];
    await showRows(context, values.json, data, heads, (one) => [
      one.id,
      one.kind,
      one.state,
      one.endpoint_id,
      one.attempts,
      one.created_at,
    ]);
  },
  show: async (task: Task) =>
    print(task, await task.client.request('GET /webhook-messages/{id}', task)),
  resend: async (task: Task) =>
    print(task, await task.client.request('POST /webhook-messages/{id}/resend', task)),
  async endpoints({ context, client, values }: Task) {
    const { data } = await client.request('GET /webhook-endpoints');
    await showRows(context, values.json, data, ['endpoint', 'url'], ({ id, url }) => [id, url]);
  },
  test: async (task: Task) =>
    print(task, await task.client.request('POST /webhook-endpoints/{id}/test', task)),
  async 'signing-key'({ context, client, values }: Task) {
    const { data } = await client.request('GET /environment/webhook-signing-key');
    context.output.result(values.json === true ? JSON.stringify(data) : data.webhook_signing_key);
  },
};

function print({ context, values }: Task, answer: object): void {
  context.output.result(JSON.stringify(answer, null, values.json === true ? 0 : 2));
}
