import type { Command } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { parseCommand } from '../options.ts';
import {
  inEnvironment,
  queryOf,
  serviceHelp,
  serviceOptions,
  showRows,
} from '../service-command.ts';

/** @see src/modules/connections/connections/shapes.ts */
interface ShownEntry {
  readonly connection_id: string;
  readonly provider_config_key: string;
  readonly provider: string;
  readonly created: string;
  readonly errors: readonly { readonly type: string }[];
}

export const connections: Command = {
  name: 'connections',
  usage: '[connection]',
  summary: 'List the connections of an environment, or show one',
  help: `Lists connections, newest first; with an id and --integration a single one, without its credentials.

Options
  -e, --environment <name>   environment of the service
  -i, --integration <id>     only of this integration
      --search <text>        whose id or end user contains the text
      --limit <n>            at most this many
      --json                 the answer as JSON on stdout

${serviceHelp}

Examples
  svc connections -e dev
  svc connections acme --integration crm -e dev`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, {
      ...serviceOptions,
      integration: { type: 'string', short: 'i' },
      search: { type: 'string' },
      limit: { type: 'string' },
    });
    const [id, ...others] = positionals;
    if (others.length > 0) {
      throw new CommandFailure('connections takes one connection', { isUsage: true });
    }
    const { integration, search, limit } = values;
    if (id !== undefined && integration === undefined) {
      throw new CommandFailure('Name the integration: --integration <id>', { isUsage: true });
    }
    await inEnvironment(context, values, async (client) => {
      if (id !== undefined) {
        const query = queryOf({ provider_config_key: integration });
        const found = await client.call('GET', `/connections/${encodeURIComponent(id)}${query}`);
        const { credentials: _hidden, ...shown } = found as Record<string, unknown>;
        context.output.result(JSON.stringify(shown, null, values.json === true ? 0 : 2));
        return;
      }
      const query = queryOf({ integrationId: integration, search, limit });
      const answer = await client.call('GET', `/connections${query}`);
      // The API guarantees the shape.
      const { connections: found } = answer as unknown as { connections: ShownEntry[] };
      const heads = ['connection', 'integration', 'provider', 'created', 'errors'];
      showRows(context, values.json, found, heads, (one) => [
        one.connection_id,
        one.provider_config_key,
        one.provider,
        one.created,
        one.errors.map(({ type }) => type).join(', '),
      ]);
    });
  },
};
