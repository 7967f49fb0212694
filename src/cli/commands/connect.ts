import { ApiError, type Client, type ConnectToken } from '#client/index.ts';
import { defineCommand } from '../command.ts';
import { jsonOption } from '../json-option.ts';
import { inEnvironment, serviceHelp, serviceOptions } from '../service-command.ts';

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
