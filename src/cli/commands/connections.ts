import type { ConnectionEntry } from '#client/index.ts';
import { showRows } from '../columns.ts';
import { defineCommand } from '../command.ts';
import { usageError } from '../exit.ts';
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
