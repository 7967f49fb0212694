import type { ApiClient } from '../client.ts';
import type { Command, Context } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { parseCommand } from '../options.ts';
import {
  inEnvironment,
  listHelp,
  listOptions,
  listQuery,
  serviceHelp,
  showRows,
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
  readonly client: ApiClient;
  readonly values: Values;
  readonly id: string;
}

/** @see src/modules/webhooks/webhooks-out/shapes.ts */
interface ShownWebhook {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly endpoint_id: string;
  readonly attempts: number;
  readonly created_at: string;
}

/** @see src/modules/webhooks/webhook-endpoints/shapes.ts */
interface ShownEndpoint {
  readonly id: string;
  readonly url: string;
}

export const webhooks: Command = {
  name: 'webhooks',
  usage: '<list|show|resend|endpoints|test> [id]',
  summary: 'List and resend webhooks to the application',
  help: `Words
  list               webhooks, one line for each endpoint, newest first
  show <id>          one webhook with its attempts
  resend <id>        send it again
  endpoints          addresses of the application
  test <endpoint>    send a test webhook to an endpoint

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
    if (task === undefined) {
      throw new CommandFailure(`webhooks has no "${word}"`, { isUsage: true });
    }
    const needsId = word !== 'list' && word !== 'endpoints';
    if (others.length > 0 || needsId !== (id !== undefined)) {
      const how = needsId ? `webhooks ${word} takes one id` : `webhooks ${word} takes no id`;
      throw new CommandFailure(how, { isUsage: true });
    }
    await inEnvironment(context, values, (client) =>
      task({ context, client, values, id: encodeURIComponent(id ?? '') }),
    );
  },
};

const tasks: Readonly<Record<string, (task: Task) => Promise<void>>> = {
  async list({ context, client, values }) {
    const { kind, state, endpoint } = values;
    const query = listQuery(values, { kind, state, endpoint_id: endpoint });
    const answer = await client.call('GET', `/webhook-messages${query}`);
    // The API guarantees the shape.
    const { data } = answer as unknown as { data: ShownWebhook[] };
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
  show: async (task) => showAnswer(task, 'GET', `/webhook-messages/${task.id}`),
  resend: async (task) => showAnswer(task, 'POST', `/webhook-messages/${task.id}/resend`),
  async endpoints({ context, client, values }) {
    const answer = await client.call('GET', '/webhook-endpoints');
    const { data } = answer as unknown as { data: ShownEndpoint[] };
    showRows(context, values.json, data, ['endpoint', 'url'], ({ id, url }) => [id, url]);
  },
  test: async (task) => showAnswer(task, 'POST', `/webhook-endpoints/${task.id}/test`),
};

async function showAnswer(
  { context, client, values }: Task,
  method: string,
  path: string,
): Promise<void> {
  const answer = await client.call(method, path);
  context.output.result(JSON.stringify(answer, null, values.json === true ? 0 : 2));
}
