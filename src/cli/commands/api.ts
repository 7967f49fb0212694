import type { Client } from '#client/index.ts';
import { confirm, withAccount } from '../account.ts';
import { defineCommand } from '../command.ts';
import { usageError } from '../exit.ts';
import { jsonOption } from '../json-option.ts';
import { inEnvironment, serviceHelp, serviceOptions } from '../service-command.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export const api = defineCommand({
  name: 'api',
  usage: '<method> <path>',
  summary: 'Send a request to any endpoint of the API',
  about: `The endpoints are listed in docs/reference/http.md and at GET /openapi.json of the service. The answer goes to
stdout as it is.`,
  options: {
    environment: serviceOptions.environment,
    account: ['--account', 'use the API key of the account'],
    body: ['--body <json>', 'send this; @file.json reads a file'],
    header: ['--header <name:value>', 'send this header too', 'repeatable'],
    yes: ['-y, --yes', 'DELETE: do not ask'],
  },
  help: `${serviceHelp}
  SVC_ACCOUNT_KEY                API key of the account, with --account

Examples
  svc api GET /alerts -e dev
  svc api GET '/webhook-deliveries?limit=5' -e dev
  svc api PATCH /integrations/crm --body '{"display_name":"CRM"}' -e dev
  svc api GET /environments --account`,

  async run({ positionals: [word = '', path = ''], values }, context) {
    const method = word.toUpperCase();
    if (!methods.includes(method) || !path.startsWith('/')) {
      throw usageError(`api takes one of ${methods.join(', ')} and a path that begins with /`);
    }
    if (values.account === true && values.environment !== undefined) {
      throw usageError('--account and --environment exclude each other');
    }
    const body = jsonOption(context, 'body', values.body, { isSecret: true });
    const headers = Object.fromEntries((values.header ?? []).map(headerOf));
    if (method === 'DELETE') await confirm(context, values, `DELETE ${path}?`);
    const task = async (client: Client): Promise<void> => {
      const answer = await client.send(method, path, { body, headers });
      if (answer === undefined) return;
      const indent = context.isTerminal ? 2 : 0;
      context.output.result(
        typeof answer === 'string' ? answer : JSON.stringify(answer, null, indent),
      );
    };
    await (values.account === true
      ? withAccount(context, task)
      : inEnvironment(context, values, task));
  },
});

function headerOf(text: string): readonly [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name.toLowerCase(), value];
  throw usageError(`--header takes name:value, not "${text}"`);
}
