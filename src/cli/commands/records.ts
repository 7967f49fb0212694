import type { JsonObject } from '../../kernel/stable-json.ts';
import { ApiError, type ApiClient } from '../client.ts';
import type { Command } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { parseCommand } from '../options.ts';
import { showHistory } from '../record-history.ts';
import { inEnvironment, queryOf, serviceHelp, serviceOptions } from '../service-command.ts';

export const records: Command = {
  name: 'records',
  usage: '[history] <model> <connection> [id]',
  summary: 'Read the current or former records of a connection',
  help: `Words
  history   the changes of one record, newest first, with actor and run

Without a subcommand it prints records in the order of modification, one line of JSON each, then the cursor of the
last one on stderr.

Options
  -e, --environment <name>   environment of the service
  -i, --integration <id>     integration of the connection (needed)
      --variant <name>       variant of the sync (base)
      --cursor <cursor>      only records modified after it
      --filter <actions>     added, updated, deleted, with commas between them
      --limit <n>            records of a page (100)
      --all                  every page, to the end
      --as-of <time>         as of a time, or of the time of a cursor
      --json                 history: the answer as JSON on stdout

${serviceHelp}

Examples
  svc records Contact acme --integration crm -e dev
  svc records Contact acme -i crm -e dev --filter deleted --all
  svc records Contact acme -i crm -e dev --as-of 2026-02-01T08:00:00Z
  svc records history Contact acme c-1 -i crm -e dev`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, {
      ...serviceOptions,
      integration: { type: 'string', short: 'i' },
      variant: { type: 'string' },
      cursor: { type: 'string' },
      filter: { type: 'string' },
      limit: { type: 'string' },
      all: { type: 'boolean' },
      'as-of': { type: 'string' },
    });
    const isHistory = positionals[0] === 'history';
    const [model, connectionId, ...others] = isHistory ? positionals.slice(1) : positionals;
    const { integration, variant, filter, limit } = values;
    if (
      model === undefined ||
      connectionId === undefined ||
      others.length !== (isHistory ? 1 : 0)
    ) {
      const takes = isHistory ? 'records history takes a model, a connection and an id' : '';
      throw new CommandFailure(takes || 'records takes a model and a connection', {
        isUsage: true,
      });
    }
    if (integration === undefined) {
      throw new CommandFailure('Name the integration: --integration <id>', { isUsage: true });
    }
    const headers = { 'provider-config-key': integration, 'connection-id': connectionId };
    await inEnvironment(context, values, async (client) => {
      if (isHistory) {
        const query = queryOf({ model, variant, id: others[0], limit, cursor: values.cursor });
        const answer = await client.call('GET', `/records/history${query}`, undefined, headers);
        showHistory(context, answer, values.json);
        return;
      }
      let cursor: string | undefined = values.cursor;
      for (;;) {
        const path = `/records${queryOf({ model, variant, filter, limit, cursor, as_of: values['as-of'] })}`;
        const answer = await client.call('GET', path, undefined, headers);
        // The API guarantees the shape.
        const page = answer as unknown as { records: JsonObject[]; next_cursor: string | null };
        for (const record of page.records) context.output.result(JSON.stringify(record));
        if (page.records.length === 0 && cursor === undefined) {
          await mustBeSaved(client, integration, model);
          context.output.note(`No records of ${model}.`);
        }
        if (page.next_cursor === null) return;
        cursor = page.next_cursor;
        if (values.all !== true) break;
      }
      context.output.note(`There are more: --cursor ${cursor}, or --all`);
    });
  },
};

/**
 * An unknown model and one without records look alike to a reader.
 * @throws CommandFailure if no function of the integration saves the model
 */
async function mustBeSaved(client: ApiClient, integration: string, model: string): Promise<void> {
  const models = await savedModels(client, integration);
  if (models === null || models.includes(model)) return;
  const existing =
    models.length === 0 ? 'there are none that save records' : `there are: ${models.join(', ')}`;
  throw new CommandFailure(`No function of ${integration} saves the model ${model}; ${existing}.`);
}

/** Null if the key may not list functions. */
async function savedModels(client: ApiClient, integration: string): Promise<string[] | null> {
  try {
    // The API guarantees the shape.
    const all = (await client.call('GET', '/scripts/config')) as unknown as {
      readonly providerConfigKey: string;
      readonly syncs: readonly { readonly returns?: readonly string[] }[];
    }[];
    const own = all.filter(({ providerConfigKey }) => providerConfigKey === integration);
    const models = own.flatMap(({ syncs }) => syncs.flatMap(({ returns = [] }) => returns));
    return [...new Set(models)].sort();
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return null;
    throw error;
  }
}
