import { ApiError, type Answer, type Client, type Provider } from '#client/index.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import { mayPrompt, type Context } from '../context.ts';
import { usageError } from '../exit.ts';
import {
  askSetup,
  chooseProvider,
  needsApp,
  problemsOf,
  showRegistration,
  type NewIntegration,
} from '../integration-dialog.ts';
import { jsonOption } from '../json-option.ts';
import { inEnvironment, serviceHelp, serviceOptions } from '../service-command.ts';
import { offerTestAccount } from '../test-account.ts';

const options = {
  ...serviceOptions,
  key: ['--key <key>', 'of create: the key (the name of the provider)'],
  name: ['--name <text>', 'of create: the name on the connect page'],
  credentials: ['--credentials <json>', "of create: the provider's app; @file.json reads a file"],
  config: ['--config <json>', 'of create: fields that the provider declares'],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

export const integrations = defineCommand({
  name: 'integrations',
  usage: '',
  summary: 'List the integrations of an environment, or create one',
  about: `In a terminal, create asks for what is missing: it searches the catalog, shows the callback URL and where an app
is registered, takes what the provider shows of it, and connects a test account.`,
  words: {
    list: 'List the integrations',
    'create [provider]': 'Create an integration of a provider of the catalog',
  },
  defaultWord: 'list',
  options,
  help: `${serviceHelp}

Examples
  svc integrations -e dev
  svc integrations create -e dev
  svc integrations create hacker-news -e dev --key news
  svc integrations create github -e dev --credentials @app.json`,

  async run({ word, positionals, values }, context) {
    await inEnvironment(context, values, async (client) => {
      if (word === 'create') await createIntegration(context, client, values, positionals[0]);
      else await list(context, client, values);
    });
  },
});

async function list(context: Context, client: Client, values: Values): Promise<void> {
  const { data } = await client.request('GET /integrations', { query: { credentials: 'none' } });
  const heads = ['integration', 'name', 'provider', 'created'];
  await showRows(context, values.json, data, heads, (one) => [
    one.unique_key,
    one.display_name,
    one.provider,
    one.created_at,
  ]);
}

async function createIntegration(
  context: Context,
  client: Client,
  values: Values,
  named: string | undefined,
): Promise<void> {
  const canAsk = mayPrompt(context, values.interactive) && values.credentials === undefined;
  if (named === undefined && !canAsk) {
    throw usageError('Name the provider: svc integrations create <provider>');
  }
  const provider =
    named === undefined ? await chooseProvider(context, client) : await providerOf(client, named);
  const isDialog = canAsk && (named === undefined || needsApp(provider));
  const body = bodyOf(context, provider, values);
  const made = isDialog
    ? await createInDialog(context, client, provider, body, values.key === undefined)
    : await created(client, body);
  const { output } = context;
  if (values.json === true) output.result(JSON.stringify(made));
  else output.result(`Created ${made.unique_key} of ${provider.name}`);
  if (isDialog) await offerTestAccount(context, client, made.unique_key);
}

const providerOf = async (client: Client, name: string): Promise<Provider> =>
  (await client.request('GET /providers/{provider}', { params: { provider: name } })).data;

const created = async (
  client: Client,
  body: NewIntegration,
): Promise<Answer<'POST /integrations'>['data']> =>
  (await client.request('POST /integrations', { body })).data;

function bodyOf(context: Context, provider: Provider, values: Values): NewIntegration {
  const { key = provider.name, name, credentials, config } = values;
  const secret = { isSecret: true };
  const fields = jsonOption(context, 'config', config, secret);
  return {
    provider: provider.name,
    unique_key: key,
    display_name: name,
    credentials: jsonOption(context, 'credentials', credentials, secret),
    // The service checks its shape.
    integration_config: fields as NewIntegration['integration_config'],
  };
}

/** Shows what to register, asks for what came of it, and asks once more for what the service refuses. */
async function createInDialog(
  context: Context,
  client: Client,
  provider: Provider,
  body: NewIntegration,
  asksKey: boolean,
): Promise<Answer<'POST /integrations'>['data']> {
  showRegistration(context, provider);
  let sent = { ...body, ...(await askSetup(context, provider)) };
  if (asksKey) sent = { ...sent, unique_key: await askKeyOf(context, client, provider) };
  for (;;) {
    try {
      return await created(client, sent);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'invalid_body') throw error;
      const problems = problemsOf(error);
      for (const { message } of problems) context.output.note(message);
      const isKeyRefused = problems.every(({ path }) => path[0] === 'unique_key');
      sent = isKeyRefused
        ? { ...sent, unique_key: await askKeyOf(context, client, provider) }
        : { ...sent, ...(await askSetup(context, provider)) };
    }
  }
}

async function askKeyOf(context: Context, client: Client, { name }: Provider): Promise<string> {
  const { data } = await client.request('GET /integrations', { query: { credentials: 'none' } });
  const taken = new Set(data.map(({ unique_key: key }) => key));
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name}-${count}`;
  const question = `Key, by which functions name the integration (Enter: ${free}): `;
  return (await context.prompt(question)) || free;
}
