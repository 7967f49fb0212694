import { readWebhookSecret } from '#kernel/webhook-secret.ts';
import { defineCommand, type Options } from '../command.ts';
import { stopOnInterrupt, type Context } from '../context.ts';
import { usageError } from '../exit.ts';
import { forward, type ForwardResult } from '../listen/forward.ts';
import { webhookFeed, type HeardWebhook } from '../listen/webhook-feed.ts';
import { uncheckedWord } from '../options.ts';
import { inEnvironment, serviceHelp, serviceOptions } from '../service-command.ts';

const options = {
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
  options,
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
