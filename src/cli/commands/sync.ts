import type { Client } from '#client/index.ts';
import { confirm } from '../account.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import type { Context } from '../context.ts';
import { CommandFailure, usageError } from '../exit.ts';
import {
  configuredIntegrations,
  inEnvironment,
  serviceHelp,
  serviceOptions,
} from '../service-command.ts';

const options = {
  ...serviceOptions,
  integration: ['-i, --integration <id>', 'if several integrations have a sync of that name'],
  connection: ['--connection <id>', 'only of this connection (all of the integration)'],
  reset: ['--reset', 'run: forget the checkpoint and the date of the last run first'],
  'empty-cache': [
    '--empty-cache',
    'run, with --reset: delete all records of the syncs first; asks',
  ],
  yes: ['-y, --yes', '--empty-cache: without asking'],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

/** The past tense of each subcommand. */
const outcomes = { run: 'Running', pause: 'Paused', start: 'Started' } as const;
type Word = keyof typeof outcomes;
const operations = {
  run: 'POST /sync/trigger',
  pause: 'POST /sync/pause',
  start: 'POST /sync/start',
} as const;

export const sync = defineCommand({
  name: 'sync',
  usage: '',
  summary: 'Show the state of syncs, run them, and stop or start their schedules',
  about: `A sync of a variant is written name::variant.`,
  words: {
    'list [sync...]': 'state, schedule and records of the named syncs, or of all',
    'run <sync...>': 'run them once, now',
    'pause <sync...>': 'stop their schedules',
    'start <sync...>': 'start their schedules, with a run now',
  },
  defaultWord: 'list',
  options,
  help: `${serviceHelp}

Examples
  svc sync list -e dev --integration crm
  svc sync run contacts -e dev
  svc sync run contacts -e dev --connection acme --reset
  svc sync pause contacts deals::eu -i crm -e dev`,

  async run({ word, positionals: names, values }, context) {
    check(word, values);
    await inEnvironment(context, values, async (client) => {
      if (word === 'list') await list(context, client, names, values);
      else await report(context, client, { word, names }, values);
    });
  },
});

function check(word: Word | 'list', values: Values): void {
  if (word !== 'run' && (values.reset === true || values['empty-cache'] === true)) {
    throw usageError('--reset and --empty-cache are options of run');
  }
  if (values['empty-cache'] === true && values.reset !== true) {
    throw usageError('--empty-cache requires --reset');
  }
}

async function list(
  context: Context,
  client: Client,
  names: readonly string[],
  { integration, connection, json }: Values,
): Promise<void> {
  const keys = await listedIntegrations(client, names, integration);
  const found = await Promise.all(
    keys.map(async (key) => {
      const wanted = names.length === 0 ? '*' : names.join(',');
      const query = { syncs: wanted, provider_config_key: key, connection_id: connection };
      const { syncs } = await client.request('GET /sync/status', { query });
      return syncs.map((one) => ({ integration: key, ...one }));
    }),
  );
  const heads = [
    'sync',
    'integration',
    'connection',
    'status',
    'every',
    'ended',
    'next',
    'records',
  ];
  await showRows(context, json, found.flat(), heads, (one) => [
    one.variant === 'base' ? one.name : `${one.name}::${one.variant}`,
    one.integration,
    one.connection_id ?? '',
    one.status,
    one.frequency,
    one.finishedAt ?? '',
    one.nextScheduledSyncAt ?? '',
    Object.values(one.recordCount).reduce((sum, count) => sum + count, 0),
  ]);
}

/** @throws CommandFailure if a named sync is in none of them */
async function listedIntegrations(
  client: Client,
  names: readonly string[],
  integration: string | undefined,
): Promise<readonly string[]> {
  if (names.length === 0 && integration !== undefined) return [integration];
  const having = await integrationsWith(client, names);
  const keys = having.filter((key) => integration === undefined || key === integration);
  if (keys.length > 0 || names.length === 0) return keys;
  const what = `sync ${names.join(', ')}`;
  throw new CommandFailure(
    integration === undefined
      ? `No integration has the ${what}`
      : `The integration ${integration} has no ${what}`,
  );
}

async function report(
  context: Context,
  client: Client,
  { word, names }: { readonly word: Word; readonly names: readonly string[] },
  values: Values,
): Promise<void> {
  const { connection, reset = false, 'empty-cache': emptyCache = false } = values;
  const shown = names.join(', ');
  const key = values.integration ?? (await onlyIntegrationWith(client, names));
  const where = `of ${connection === undefined ? 'every connection' : connection} of ${key}`;
  if (emptyCache)
    await confirm(context, values, `Delete all records ${where} that ${shown} saved?`);
  const body = { syncs: names, provider_config_key: key, connection_id: connection };
  const opts = word === 'run' ? { opts: { reset, emptyCache } } : {};
  const answer = await client.request(operations[word], { body: { ...body, ...opts } });
  if (values.json === true) context.output.result(JSON.stringify(answer));
  else context.output.result(`${outcomes[word]} ${shown} ${where}`);
  if (word !== 'pause') context.output.note('svc sync list and svc runs list show the progress');
}

/** Keys of the integrations that have all of the syncs. */
async function integrationsWith(client: Client, names: readonly string[]): Promise<string[]> {
  const all = await configuredIntegrations(client);
  const wanted = names.map((name) => name.split('::', 1)[0]);
  return all
    .filter(({ syncs }) => syncs.length > 0)
    .filter(({ syncs }) => wanted.every((name) => syncs.some((one) => one.name === name)))
    .map(({ providerConfigKey }) => providerConfigKey);
}

/** @throws CommandFailure unless there is exactly one */
async function onlyIntegrationWith(client: Client, names: readonly string[]): Promise<string> {
  const [key, ...others] = await integrationsWith(client, names);
  const shown = names.join(', ');
  if (key === undefined) throw new CommandFailure(`No integration has the sync ${shown}`);
  if (others.length === 0) return key;
  const list = [key, ...others].join(', ');
  throw new CommandFailure(`${shown} is of ${list}: choose with --integration`);
}
