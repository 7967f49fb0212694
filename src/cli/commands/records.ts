import type { JsonObject } from '../../kernel/stable-json.ts';
import type { Command } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { parseCommand } from '../options.ts';
import { inEnvironment, queryOf, serviceHelp, serviceOptions } from '../service-command.ts';

export const records: Command = {
  name: 'records',
  usage: '<model> <connection>',
  summary: 'Read the records of a connection',
  help: `Prints records in the order of their modification, one line of JSON each, and the cursor of the last one
after them on stderr.

Options
  -e, --environment <name>   environment of the service
  -i, --integration <id>     integration of the connection (needed)
      --variant <name>       variant of the sync (base)
      --cursor <cursor>      only what was modified after it
      --filter <actions>     added, updated, deleted, with commas between them
      --limit <n>            records of a page (100)
      --all                  every page, to the end

${serviceHelp}

Examples
  svc records Contact acme --integration crm -e dev
  svc records Contact acme -i crm -e dev --filter deleted --all`,

  async run(args, context) {
    const { environment, json: _always } = serviceOptions;
    const { values, positionals } = parseCommand(args, {
      environment,
      integration: { type: 'string', short: 'i' },
      variant: { type: 'string' },
      cursor: { type: 'string' },
      filter: { type: 'string' },
      limit: { type: 'string' },
      all: { type: 'boolean' },
    });
    const [model, connectionId, ...others] = positionals;
    const { integration, variant, filter, limit } = values;
    if (model === undefined || connectionId === undefined || others.length > 0) {
      throw new CommandFailure('records takes a model and a connection', { isUsage: true });
    }
    if (integration === undefined) {
      throw new CommandFailure('Name the integration: --integration <id>', { isUsage: true });
    }
    const headers = { 'provider-config-key': integration, 'connection-id': connectionId };
    await inEnvironment(context, values, async (client) => {
      let cursor: string | undefined = values.cursor;
      for (;;) {
        const path = `/records${queryOf({ model, variant, filter, limit, cursor })}`;
        const answer = await client.call('GET', path, undefined, headers);
        // The shape is the service's promise.
        const page = answer as unknown as { records: JsonObject[]; next_cursor: string | null };
        for (const record of page.records) context.output.result(JSON.stringify(record));
        if (page.next_cursor === null) return;
        cursor = page.next_cursor;
        if (values.all !== true) break;
      }
      context.output.note(`There are more: --cursor ${cursor}, or --all`);
    });
  },
};
