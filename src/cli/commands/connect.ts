import type { JsonObject } from '../../kernel/stable-json.ts';
import { ApiError, type ApiClient } from '../client.ts';
import type { Command } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { jsonOption } from '../json-option.ts';
import { parseCommand } from '../options.ts';
import { inEnvironment, serviceHelp, serviceOptions } from '../service-command.ts';

/** @see src/modules/connections/connect-sessions/shapes.ts */
interface MadeSession {
  readonly data: { readonly connect_link: string; readonly expires_at: string };
}

export const connect: Command = {
  name: 'connect',
  usage: '<integration> [connection]',
  summary: 'Connect an account, by a link or with its credentials',
  help: `Prints a link to the connect page, where an account is connected within half an hour; for an existing connection
the link reauthorizes it. With --credentials the connection is created at once.

Options
  -e, --environment <name>     environment of the service
      --provider <name>        create a missing integration, with this provider of the catalog
      --credentials <json>     connect with these; @file.json reads a file
      --json                   the answer as JSON on stdout, without the credentials

${serviceHelp}

Examples
  svc connect crm -e dev
  svc connect crm acme -e dev
  svc connect news me -e dev --provider hacker-news --credentials '{"type":"NONE"}'
  svc connect crm acme -e dev --credentials @key.json`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, {
      ...serviceOptions,
      provider: { type: 'string' },
      credentials: { type: 'string' },
    });
    const [integration, connectionId, ...others] = positionals;
    if (integration === undefined || others.length > 0) {
      throw new CommandFailure('connect takes an integration and a connection', { isUsage: true });
    }
    const secret = { isSecret: true };
    const credentials = jsonOption(context, 'credentials', values.credentials, secret);
    const { output } = context;
    await inEnvironment(context, values, async (client) => {
      if (values.provider !== undefined) {
        const isNew = await makeIntegration(client, integration, values.provider);
        if (isNew) output.note(`Created the integration ${integration} of ${values.provider}`);
      }
      if (credentials === undefined) {
        const { data } = await openSession(client, integration, connectionId);
        if (values.json === true) output.result(JSON.stringify(data));
        else output.result(data.connect_link);
        output.note(`The link expires at ${data.expires_at}`);
        return;
      }
      const made = await client.call('POST', '/connections', {
        provider_config_key: integration,
        ...(connectionId === undefined ? {} : { connection_id: connectionId }),
        credentials,
      });
      const { credentials: _hidden, ...shown } = made as JsonObject;
      // The API guarantees the shape.
      const id = shown['connection_id'] as string;
      if (values.json === true) output.result(JSON.stringify(shown));
      else output.result(`Connected ${id} of ${integration}`);
    });
  },
};

/** Resolves with whether it was created. */
async function makeIntegration(client: ApiClient, key: string, provider: string): Promise<boolean> {
  try {
    await client.call('GET', `/integrations/${encodeURIComponent(key)}`);
    return false;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
  await client.call('POST', '/integrations', { provider, unique_key: key });
  return true;
}

/** For a new connection, or for an existing one. */
async function openSession(
  client: ApiClient,
  integration: string,
  connectionId: string | undefined,
): Promise<MadeSession> {
  const answer =
    connectionId === undefined
      ? await client.call('POST', '/connect/sessions', {
          tags: {},
          allowed_integrations: [integration],
        })
      : await client.call('POST', '/connect/sessions/reconnect', {
          tags: {},
          connection_id: connectionId,
          integration_id: integration,
        });
  // The API guarantees the shape.
  return answer as unknown as MadeSession;
}
