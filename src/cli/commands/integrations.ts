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
  name: ['--name <text>', 'the name on the connect page'],
  credentials: ['--credentials <json>', "the provider's app; @file.json reads a file"],
  config: ['--config <json>', 'fields that the provider declares'],
  'revoke-on-disconnect': [
    '--revoke-on-disconnect <yes|no>',
    'whether access is revoked at the provider when a connection is deleted (no)',
  ],
  'rate-limit': [
    '--rate-limit <limit>',
    "requests to the provider, in seconds: 100/60, 100/60/connection, none, or the provider's (provider)",
  ],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

export const integrations = defineCommand({
  name: 'integrations',
  usage: '',
  summary: 'List the integrations of an environment, create or update one',
  about: `In a terminal, create asks for what is missing: it searches the catalog, shows the callback URL and where an app
is registered, takes what the provider shows of it, and connects a test account.`,
  words: {
    list: 'List the integrations',
    'create [provider]': 'Create an integration of a provider of the catalog',
    'update <integration>': 'Change the settings of an integration',
  },
  defaultWord: 'list',
  options,
  help: `${serviceHelp}

Examples
  svc integrations -e dev
  svc integrations create -e dev
  svc integrations create hacker-news -e dev --key news
  svc integrations create github -e dev --credentials @app.json
  svc integrations update gmail -e dev --revoke-on-disconnect yes
  svc integrations update notion -e dev --rate-limit 180/60`,

  async run({ word, positionals, values }, context) {
    await inEnvironment(context, values, async (client) => {
      if (word === 'create') await createIntegration(context, client, values, positionals[0]);
      else if (word === 'update') await update(context, client, values, positionals[0] ?? '');
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

async function update(
  context: Context,
  client: Client,
  values: Values,
  integration: string,
): Promise<void> {
  const body = settingsOf(context, values);
  if (Object.values(body).every((value) => value === undefined)) {
    throw usageError(
      'Name what to change: --name, --credentials, --config, --revoke-on-disconnect, --rate-limit',
    );
  }
  const { data } = await client.request('PATCH /integrations/{uniqueKey}', {
    params: { uniqueKey: integration },
    body,
  });
  const { output } = context;
  output.result(values.json === true ? JSON.stringify(data) : `Updated ${data.unique_key}`);
}

function bodyOf(context: Context, provider: Provider, values: Values): NewIntegration {
  const { key = provider.name } = values;
  return { provider: provider.name, unique_key: key, ...settingsOf(context, values) };
}

function settingsOf(
  context: Context,
  values: Values,
): Omit<NewIntegration, 'provider' | 'unique_key'> {
  const { name, credentials, config } = values;
  const secret = { isSecret: true };
  const fields = jsonOption(context, 'config', config, secret);
  return {
    display_name: name,
    revoke_on_disconnect: yesOrNo(values['revoke-on-disconnect']),
    rate_limit: rateLimitOf(values['rate-limit']),
    credentials: jsonOption(context, 'credentials', credentials, secret),
    // The service checks its shape.
    integration_config: fields as NewIntegration['integration_config'],
  };
}

/** @throws Error of usage */
function yesOrNo(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === 'yes' || text === 'no') return text === 'yes';
  throw usageError('--revoke-on-disconnect is yes or no');
}

/** @throws Error of usage */
function rateLimitOf(text: string | undefined): NewIntegration['rate_limit'] {
  if (text === undefined || text === 'none' || text === 'provider') return text;
  const [, requests, seconds, per = 'integration'] =
    /^(\d+)\/(\d+)(?:\/(integration|connection))?$/.exec(text) ?? [];
  if (requests === undefined) {
    throw usageError(
      '--rate-limit is none, provider, or <requests>/<seconds> with /connection where each has its own: 100/60, 100/60/connection',
    );
  }
  return {
    requests: Number(requests),
    seconds: Number(seconds),
    per: per === 'connection' ? per : 'integration',
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
