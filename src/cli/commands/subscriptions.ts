import type { Client, Input, Subscription } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { confirm } from '../account.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../exit.ts';
import { inEnvironment, limitOf, serviceHelp, serviceOptions } from '../service-command.ts';

const options = {
  integration: ['-i, --integration <id>', 'create: only changes of this integration'],
  connection: ['--connection <id>', 'create: only changes of this connection'],
  model: ['--model <name>', 'create: only changes of this model'],
  url: ['--url <address>', 'create: post the changes to it, signed'],
  payload: ['--payload <what>', 'create: with --url, records or ids (records)'],
  from: ['--from <place>', 'create, seek: start, end or a time (start)'],
  limit: ['--limit <n>', 'read: at most this many (100)'],
  commit: ['--commit', 'read: commit what was printed'],
  yes: ['-y, --yes', 'seek, delete: do not ask'],
  ...serviceOptions,
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

interface Task {
  readonly context: Context;
  readonly client: Client;
  readonly values: Values;
  readonly operands: readonly string[];
}

export const subscriptions = defineCommand({
  name: 'subscriptions',
  usage: '',
  summary: 'Read the changes of records from a position that the service keeps',
  about: 'Changes are printed as a line of JSON each.',
  words: {
    list: 'each subscription, and how far it is behind',
    'create <name>': 'begin at --from; one with the same filter stays as it is',
    'read <name>': 'the next changes; without --commit they come again',
    'seek <name>': 'move it to --from, to read changes again or to skip them',
    'parked <name>': 'the changes that its consumer has set aside, with the reason',
    'release <name> <place>': 'take a parked change off the list',
    'replay <name> [place]': 'deliver a parked change, or all of them, to the target once more',
    'delete <name>': 'remove it with its position',
  },
  defaultWord: 'list',
  options,
  help: `${serviceHelp}

Examples
  svc subscriptions create warehouse --model Contact -e dev
  svc subscriptions read warehouse --commit -e dev
  svc subscriptions seek warehouse --from 2026-05-01T12:00:00Z -e dev`,

  async run({ word, positionals: operands, values }, context) {
    await inEnvironment(context, values, (client) =>
      tasks[word]({ context, client, values, operands }),
    );
  },
});

const tasks = { list, create, read, seek, parked, release, replay, delete: remove };

async function list({ context, client, values }: Task): Promise<void> {
  const { data } = await client.request('GET /subscriptions');
  await showRows(context, values.json, data, heads, cells, 4);
}

async function create({ context, client, values, operands: [name = ''] }: Task): Promise<void> {
  const { integration, connection, model, from, url } = values;
  const payload = payloadOf(values.payload);
  const { data } = await client.request('PUT /subscriptions/{name}', {
    params: { name },
    body: {
      ...(integration === undefined ? {} : { provider_config_key: integration }),
      ...(connection === undefined ? {} : { connection_id: connection }),
      ...(model === undefined ? {} : { model }),
      ...(from === undefined ? {} : { from }),
      ...(url === undefined ? {} : { target: { type: 'webhook' as const, url, payload } }),
    } satisfies Input<'PUT /subscriptions/{name}'>['body'],
  });
  await show(context, values, data);
}

function payloadOf(text = 'records'): 'records' | 'ids' {
  if (text === 'records' || text === 'ids') return text;
  throw usageError('--payload takes records or ids');
}

const pageDefault = 100;

async function read({ context, client, values, operands: [name = ''] }: Task): Promise<void> {
  const limit = limitOf(values.limit) ?? pageDefault;
  const params = { name };
  const page = await client.request('GET /subscriptions/{name}/changes', {
    params,
    query: { limit },
  });
  for (const change of page.changes) context.output.result(JSON.stringify(change));
  if (values.commit !== true) return;
  await client.request('POST /subscriptions/{name}/commit', {
    params,
    body: { cursor: page.cursor },
  });
}

async function seek({ context, client, values, operands: [name = ''] }: Task): Promise<void> {
  const { from = 'start' } = values;
  await confirm(context, values, `Move the subscription ${name} to ${from}?`);
  const { data } = await client.request('POST /subscriptions/{name}/seek', {
    params: { name },
    body: { from },
  });
  await show(context, values, data);
}

async function parked({ context, client, values, operands: [name = ''] }: Task): Promise<void> {
  const { data } = await client.request('GET /subscriptions/{name}/parked', { params: { name } });
  const columns = ['place', 'parked', 'model', 'record', 'reason'];
  await showRows(context, values.json, data, columns, (one) => [
    one.place,
    one.parked_at,
    one.change?.model ?? '-',
    one.change?.record_id ?? '-',
    one.reason,
  ]);
}

async function release({ context, client, values, operands }: Task): Promise<void> {
  const [name = '', place = ''] = operands;
  const answer = await client.request('DELETE /subscriptions/{name}/parked/{place}', {
    params: { name, place },
  });
  context.output.result(values.json === true ? JSON.stringify(answer) : `Released ${place}`);
}

async function replay({ context, client, values, operands }: Task): Promise<void> {
  const [name = '', chosen] = operands;
  const { data } = await client.request('GET /subscriptions/{name}/parked', { params: { name } });
  const places = chosen === undefined ? data.map(({ place }) => place) : [chosen];
  for (const place of places) {
    const path = 'POST /subscriptions/{name}/parked/{place}/replay';
    await client.request(path, { params: { name, place } });
  }
  const text = `${counted(places.length, 'change')} to deliver once more`;
  context.output.result(values.json === true ? JSON.stringify({ places }) : text);
}

async function remove({ context, client, values, operands: [name = ''] }: Task): Promise<void> {
  await confirm(context, values, `Delete the subscription ${name} with its position?`);
  const answer = await client.request('DELETE /subscriptions/{name}', { params: { name } });
  context.output.result(values.json === true ? JSON.stringify(answer) : `Deleted ${name}`);
}

async function show(context: Context, { json }: Values, one: Subscription): Promise<void> {
  if (json === true) context.output.result(JSON.stringify(one));
  else await showRows(context, false, [one], heads, cells, 4);
}

const heads = ['subscription', 'of', 'to', 'committed', 'parked', 'behind'];

const cells = (one: Subscription) => [
  one.name,
  [one.provider_config_key, one.connection_id, one.model, one.models?.join(', ')]
    .filter((part) => part != null)
    .join(' ') || 'everything',
  one.target === null ? 'readers' : `${one.target.type}${one.failing === 0 ? '' : ' (refuses)'}`,
  one.committed_at ?? 'never',
  one.parked,
  one.behind,
];
