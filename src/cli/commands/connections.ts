import { type ConnectionEntry, ApiError, type Client, type ConnectToken } from '#client/index.ts';
import { showRows } from '../columns.ts';
import { defineCommand } from '../command.ts';
import { usageError } from '../exit.ts';
import { jsonOption } from '../json-option.ts';
import { entriesOf } from '../options.ts';
import { inEnvironment, limitOf, serviceHelp, serviceOptions } from '../service-command.ts';

export const connections = defineCommand({
  name: 'connections',
  usage: '[connection]',
  summary: 'List the connections of an environment, or show one',
  about: `Lists connections, newest first; with an id and --integration a single one, without its credentials.`,
  options: {
    ...serviceOptions,
    integration: ['-i, --integration <id>', 'only of this integration'],
    search: ['--search <text>', 'whose id or end user contains the text'],
    limit: ['--limit <n>', 'at most this many'],
  },
  help: `${serviceHelp}

Examples
  svc connections -e dev
  svc connections acme --integration crm -e dev`,

  async run({ positionals, values }, context) {
    const [id] = positionals;
    const { integration, search, limit } = values;
    if (id !== undefined && integration === undefined) {
      throw usageError('Name the integration: --integration <id>');
    }
    await inEnvironment(context, values, async (client) => {
      if (id !== undefined && integration !== undefined) {
        const { credentials: _hidden, ...shown } = await client.request(
          'GET /connections/{connectionId}',
          { params: { connectionId: id }, query: { provider_config_key: integration } },
        );
        context.output.result(JSON.stringify(shown, null, values.json === true ? 0 : 2));
        return;
      }
      const integrationId = entriesOf(integration);
      const found: ConnectionEntry[] = [];
      const pages = client.pages('GET /connections', {
        query: { integrationId, search, limit: limitOf(limit) },
      });
      for await (const { connections: some } of pages) {
        found.push(...some);
        if (limit !== undefined) break;
      }
      const heads = ['connection', 'integration', 'provider', 'created', 'errors'];
      await showRows(context, values.json, found, heads, (one) => [
        one.connection_id,
        one.provider_config_key,
        one.provider,
        one.created,
        one.errors.map(({ type }) => type).join(', '),
      ]);
    });
  },
});

export const connect = defineCommand({
  name: 'connect',
  usage: '<integration> [connection]',
  summary: 'Connect an account, by a link or with its credentials',
  about: `Prints a link to the connect page, where an account is connected within half an hour; for an existing connection
the link reauthorizes it. With --credentials the connection is created at once.`,
  options: {
    ...serviceOptions,
    provider: [
      '--provider <name>',
      'create a missing integration, with this provider of the catalog',
    ],
    credentials: ['--credentials <json>', 'connect with these; @file.json reads a file'],
    json: ['--json', 'the answer as JSON on stdout, without the credentials'],
  },
  help: `${serviceHelp}

Examples
  svc connect crm -e dev
  svc connect crm acme -e dev
  svc connect news me -e dev --provider hacker-news --credentials '{"type":"NONE"}'
  svc connect crm acme -e dev --credentials @key.json`,

  async run({ positionals, values }, context) {
    const [integration = '', connectionId] = positionals;
    const secret = { isSecret: true };
    const credentials = jsonOption(context, 'credentials', values.credentials, secret);
    const { output } = context;
    await inEnvironment(context, values, async (client) => {
      if (values.provider !== undefined) {
        const isNew = await makeIntegration(client, integration, values.provider);
        if (isNew) output.note(`Created the integration ${integration} of ${values.provider}`);
      }
      if (credentials === undefined) {
        const session = await openSession(client, integration, connectionId);
        if (values.json === true) output.result(JSON.stringify(session));
        else output.result(session.connect_link);
        output.note(`The link expires at ${session.expires_at}`);
        return;
      }
      const { credentials: _hidden, ...shown } = await client.request('POST /connections', {
        body: { provider_config_key: integration, connection_id: connectionId, credentials },
      });
      if (values.json === true) output.result(JSON.stringify(shown));
      else output.result(`Connected ${shown.connection_id} of ${integration}`);
    });
  },
});

/** Resolves with whether it was created. */
async function makeIntegration(client: Client, key: string, provider: string): Promise<boolean> {
  try {
    await client.request('GET /integrations/{uniqueKey}', { params: { uniqueKey: key } });
    return false;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
  await client.request('POST /integrations', { body: { provider, unique_key: key } });
  return true;
}

/** For a new connection, or for an existing one. */
async function openSession(
  client: Client,
  integration: string,
  connectionId: string | undefined,
): Promise<ConnectToken> {
  const tags = {};
  const { data } =
    connectionId === undefined
      ? await client.request('POST /connect/sessions', {
          body: { tags, allowed_integrations: [integration] },
        })
      : await client.request('POST /connect/sessions/reconnect', {
          body: { tags, connection_id: connectionId, integration_id: integration },
        });
  return data;
}
