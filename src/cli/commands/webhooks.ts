import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Answer, Input, WebhookEndpoint, WebhookMessage } from '#client/index.ts';
import { systemClock } from '#kernel/time.ts';
import { readWebhookSecret } from '#kernel/webhook-secret.ts';
import { signDelivery } from '#rules/signature.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import { type Context, stopOnInterrupt } from '../context.ts';
import { usageError } from '../exit.ts';
import { uncheckedWord } from '../options.ts';
import {
  inEnvironment,
  listOptions,
  listQuery,
  serviceHelp,
  serviceOptions,
} from '../service-command.ts';

const options = {
  ...listOptions,
  kind: ['--kind <kind>', 'only of this kind'],
  state: ['--state <state>', 'only in this state'],
  endpoint: ['--endpoint <id>', 'only to this endpoint'],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

interface Task {
  readonly context: Context;
  readonly client: Client;
  readonly values: Values;
  readonly params: { readonly id: string };
}

export const webhooks = defineCommand({
  name: 'webhooks',
  usage: '',
  summary: 'List and resend webhooks to the application',
  about: 'The filters are those of list.',
  words: {
    list: 'webhooks, one line for each endpoint, newest first',
    'show <id>': 'one webhook with its attempts',
    'resend <id>': 'send it again',
    endpoints: 'addresses of the application',
    'test <endpoint>': 'send a test webhook to an endpoint',
    'signing-key': 'the key that signs them, with --endpoint those to it; the read is audited',
  },
  defaultWord: 'list',
  options,
  help: `${serviceHelp}

Examples
  svc webhooks list -e dev
  svc webhooks endpoints -e dev --json`,

  async run({ word, positionals, values }, context) {
    const [id = ''] = positionals;
    const task = (client: Client) => tasks[word]({ context, client, values, params: { id } });
    await inEnvironment(context, values, task);
  },
});

const tasks = {
  async list({ context, client, values }: Task) {
    const query = {
      ...listQuery(values),
      kind: uncheckedWord(values.kind),
      state: uncheckedWord(values.state),
      endpoint_id: values.endpoint,
    };
    const { data } = await client.request('GET /webhook-messages', { query });
    const heads = ['webhook', 'kind', 'state', 'endpoint', 'attempts', 'created'];
    await showRows(context, values.json, data, heads, (one) => [
      one.id,
      one.kind,
      one.state,
      one.endpoint_id,
      one.attempts,
      one.created_at,
    ]);
  },
  async show(task: Task) {
    const answer = await task.client.request('GET /webhook-messages/{id}', task);
    print(task, answer);
    for (const delivery of answer.data.deliveries) {
      const line = deliveryProblem(delivery);
      if (line !== null) task.context.output.note(line);
    }
  },
  resend: async (task: Task) =>
    print(task, await task.client.request('POST /webhook-messages/{id}/resend', task)),
  async endpoints({ context, client, values }: Task) {
    const { data } = await client.request('GET /webhook-endpoints');
    const heads = ['endpoint', 'url', 'authentication'];
    await showRows(context, values.json, data, heads, (one) => [
      one.id,
      one.url,
      authenticationOf(one),
    ]);
  },
  test: async (task: Task) =>
    print(task, await task.client.request('POST /webhook-endpoints/{id}/test', task)),
  async 'signing-key'({ context, client, values }: Task) {
    const { endpoint: id } = values;
    const { data } = await (id === undefined
      ? client.request('GET /environment/webhook-signing-key')
      : client.request('GET /webhook-endpoints/{id}/signing-key', { params: { id } }));
    context.output.result(values.json === true ? JSON.stringify(data) : data.webhook_signing_key);
  },
};

/** How the service authenticates at the endpoint, besides its signature. */
function authenticationOf({
  oauth,
  client_certificate: certificate,
  header_names: headers,
}: WebhookEndpoint): string {
  const names = [
    oauth === null ? [] : ['oauth'],
    certificate === null ? [] : ['certificate'],
    headers.includes('authorization') ? ['header'] : [],
  ];
  return names.flat().join(', ');
}

/** Why a webhook has not arrived, and what to do; null where it has, or was not tried. */
function deliveryProblem({
  id,
  endpoint_id: endpoint,
  status,
  error_code: code,
  fix,
}: Answer<'GET /webhook-messages/{id}'>['data']['deliveries'][number]): string | null {
  if (fix === null) return null;
  const problem = code ?? `it answered ${status}`;
  return `Not delivered to ${endpoint}: ${problem}. ${fix} Then: svc webhooks resend ${id}`;
}

function print({ context, values }: Task, answer: object): void {
  context.output.result(JSON.stringify(answer, null, values.json === true ? 0 : 2));
}

const listenOptions = {
  ...serviceOptions,
  forward: ['--forward <url>', 'send each to this address, and print its response'],
  kind: ['--kind <kind>', 'only of this kind'],
  integration: ['-i, --integration <id>', 'only of this integration'],
  connection: ['--connection <id>', 'only of this connection'],
  json: ['--json', 'one JSON document for each, with its payload'],
} as const satisfies Options;

export const listen = defineCommand({
  name: 'listen',
  usage: '',
  summary: 'Receive webhooks to the application locally',
  about: `Prints new webhooks until Ctrl-C, and sends each to an address of this machine that the service cannot
reach. Deliveries by the service are not affected. Webhooks are created for endpoints: if
"svc webhooks endpoints" lists none, there are no webhooks.

With SVC_WEBHOOK_SIGNING_KEY, the signing key of the environment, forwarded webhooks are signed in the same way.`,
  options: listenOptions,
  help: `${serviceHelp}

Examples
  svc listen -e dev --forward http://localhost:3000/hook
  svc listen -e dev --kind sync --json`,

  async run({ values }, context) {
    const url = values.forward;
    if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      throw usageError(`--forward takes an http address: "${url}"`);
    }
    const key = context.environment.webhookSigningKey;
    if (key !== null && readWebhookSecret(key).length === 0) {
      throw usageError('SVC_WEBHOOK_SIGNING_KEY is whsec_ without base64');
    }
    const filter = {
      kind: uncheckedWord(values.kind),
      provider_config_key: values.integration,
      connection_id: values.connection,
    };
    using stopping = stopOnInterrupt(context);
    const { signal } = stopping;
    await inEnvironment(context, values, async (client) => {
      context.output.note('Listening; Ctrl-C ends it.');
      for await (const heard of webhookFeed(client, filter, signal)) {
        const forwarded = url === undefined ? null : await forward(url, heard, key, signal);
        show(context, heard, forwarded, values.json === true);
      }
    });
  },
});

function show(
  { output }: Context,
  { id, kind, payload, deliveries }: HeardWebhook,
  forwarded: ForwardResult | null,
  isJson: boolean,
): void {
  if (isJson) {
    output.result(JSON.stringify({ id, kind, payload, forwarded }));
    return;
  }
  const first = deliveries[0];
  const where = [first?.provider_config_key, first?.connection_id].filter(Boolean).join('/');
  output.result(
    [first?.created_at ?? '', kind, where, id, answerText(output, forwarded)].join('  ').trimEnd(),
  );
}

function answerText({ paint }: Context['output'], forwarded: ForwardResult | null): string {
  if (forwarded === null) return '';
  if ('error' in forwarded) return paint('red', forwarded.error);
  const isTaken = forwarded.status >= 200 && forwarded.status < 300;
  return paint(isTaken ? 'green' : 'red', String(forwarded.status));
}

/** Same as the service's timeout for an application. */
const timeoutMs = 20_000;

/** The outcome: a status, or why there is none. */
type ForwardResult = { readonly status: number } | { readonly error: string };

/** Sends the webhook in the form of the service; without a key it is not signed. */
async function forward(
  url: string,
  { id, payload }: Pick<HeardWebhook, 'id' | 'payload'>,
  signingKey: string | null,
  signal: AbortSignal,
): Promise<ForwardResult> {
  const body = Buffer.from(JSON.stringify(payload));
  const message = { id, body, at: systemClock.now() };
  const signed =
    signingKey === null
      ? { 'webhook-id': id }
      : signDelivery({ current: signingKey, previous: null }, message);
  try {
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signed },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    return { status };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { error: cause instanceof Error ? cause.message : String(cause) };
  }
}

const askEveryMs = 1_000;
/** The order in which two nodes record webhooks may differ from the order of their times. */
const overlapMs = 10_000;
const pageSize = 1000;

type HeardWebhook = Answer<'GET /webhook-messages/{id}'>['data'];

type Query = NonNullable<Input<'GET /webhook-messages'>['query']>;
type WebhookFilter = Pick<Query, 'kind' | 'provider_config_key' | 'connection_id'>;

/** New webhooks of the service, each once, until the signal aborts. @throws ApiError */
async function* webhookFeed(
  client: Client,
  filter: WebhookFilter,
  signal: AbortSignal,
): AsyncGenerator<HeardWebhook> {
  const query = { ...filter, limit: 1 };
  const [newest] = (await client.request('GET /webhook-messages', { query })).data;
  let since = newest?.created_at;
  let existing = await idsSince(client, filter, since);
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    await pause(askEveryMs, undefined, { signal }).catch(() => undefined);
    if (isOver()) return;
    const found = await all(client, { ...filter, since });
    const fresh = [...new Set(found.map(({ id }) => id).reverse())].filter(
      (id) => !existing.has(id),
    );
    existing = new Set(found.map(({ id }) => id));
    const last = found[0]?.created_at;
    if (last !== undefined) since = new Date(Date.parse(last) - overlapMs).toISOString();
    for (const id of fresh) {
      yield (await client.request('GET /webhook-messages/{id}', { params: { id } })).data;
    }
  }
}

async function idsSince(
  client: Client,
  filter: WebhookFilter,
  newest: string | undefined,
): Promise<Set<string>> {
  if (newest === undefined) return new Set();
  const since = new Date(Date.parse(newest) - overlapMs).toISOString();
  return new Set((await all(client, { ...filter, since })).map(({ id }) => id));
}

/** Newest first, of all pages. */
async function all(client: Client, filter: Query): Promise<WebhookMessage[]> {
  const query = { ...filter, limit: pageSize };
  const pages = await Array.fromAsync(client.pages('GET /webhook-messages', { query }));
  return pages.flatMap(({ data }) => data);
}
