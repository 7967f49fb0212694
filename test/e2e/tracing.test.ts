import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWebhookSecret } from '#kernel/webhook-secret.ts';
import {
  openOtlpReceiver,
  spanIdOf,
  traceOf,
  type OtlpReceiver,
  type ReceivedSpan,
  type ReceivedTrace,
} from '#test/support/fakes/otlp-receiver.ts';
import {
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const loaded = fileURLToPath(new URL('../support/processes/print-loaded.js', import.meta.url));
const callers = {
  action: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  sync: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  webhook: '00-5cf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  unsampled: '00-11f92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00',
};
const secret = 'query-value-that-nobody-may-see';

let collector: OtlpReceiver;
let world: CrmWorld;
let crm: CrmConnection;
let tracedLog: readonly string[];

beforeAll(async () => {
  collector = await openOtlpReceiver();
  world = await openCrmWorld({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      NODE_OPTIONS: `--import=${loaded}`,
      SVC_LOG_LEVEL: 'debug',
    },
  });
  crm = await world.connect();
  crm.account.contacts = [{ id: 'c-1', name: `Ada ${secret}` }];
  const endpoint = `/script?token=${secret}`;
  succeeded(await crm.action('request', { endpoint }, { traceparent: callers.action }));
  const body = { provider_config_key: 'crm', connection_id: crm.id, syncs: ['contacts'] };
  for (const traceparent of [callers.sync, callers.unsampled]) {
    const runs = crm.webhooks('contacts').length;
    const headers = { traceparent };
    succeeded(await world.gateway.call('POST', '/sync/trigger', { headers, body }));
    await crm.webhook('contacts', runs + 1);
  }
  await receiveWebhook();
  // Each thread exports its last spans when it stops.
  await world.gateway.stop();
  tracedLog = world.gateway.log;
});

/** One of a provider that signs nothing: it is kept, whatever becomes of it. */
async function receiveWebhook(): Promise<void> {
  const { gateway } = world;
  const provider = { provider: 'granola', unique_key: 'granola' };
  succeeded(await gateway.call('POST', '/integrations', { body: provider }));
  const listed = await gateway.call('GET', '/audit/chains', { key: gateway.accountKey });
  const { data } = succeeded(listed) as { data: { environment: string; name: string | null }[] };
  const uuid = data.find(({ name }) => name === 'dev')?.environment ?? '';
  const headers = { traceparent: callers.webhook };
  const webhook = { key: null, body: { said: secret }, headers };
  await gateway.call('POST', `/webhook/${uuid}/granola`, webhook);
}

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

type Caller = keyof typeof callers;
const tracedBy = (caller: Caller): ReceivedTrace => traceOf(collector.spans, callers[caller]);

const pathsOf = (caller: Caller): ReadonlySet<string> => {
  const { spans, pathOf } = tracedBy(caller);
  return new Set(spans.map(pathOf));
};

const sentBy = ({ traceId, spanId }: ReceivedSpan): string => `00-${traceId}-${spanId}-01`;

describe('the trace of a request', () => {
  it.each(['action', 'sync', 'webhook'] as const)(
    'has one root, under the span of the caller: %s',
    (what) => {
      const { spans, outerParents } = tracedBy(what);
      expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
      expect(outerParents).toEqual([spanIdOf(callers[what])]);
      for (const { startNs, endNs } of spans) expect(endNs).toBeGreaterThanOrEqual(startNs);
    },
  );

  it('contains the run of an action and its call of the provider', () => {
    const run = 'POST /action/trigger > run action request';
    expect(pathsOf('action')).toEqual(
      new Set([
        'POST /action/trigger',
        'POST /action/trigger > decide action-run',
        'POST /action/trigger > decide action-run > process svc.runs.v1',
        'POST /action/trigger > process svc.logs.v1',
        run,
        `${run} > GET`,
        `${run} > process svc.runs.v1`,
      ]),
    );
  });

  it('contains a sync from its trigger to its webhook', () => {
    // Without the log: this process owns the partition, and runs the sync.
    const trigger = 'POST /sync/trigger';
    const decided = `${trigger} > decide sync > process svc.runs.v1`;
    const run = `${trigger} > run sync contacts`;
    const save = 'send svc.internal.record-commands.v1 > process svc.internal.record-commands.v1';
    const expected = [
      decided,
      run,
      `${run} > GET`,
      `${run} > ${save}`,
      `${run} > ${save} > process svc.records.v1`,
      // The barrier, before the end of the run.
      `${trigger} > ${save}`,
      `${decided} > process svc.webhooks-out.v1`,
      `${decided} > process svc.webhooks-out.v1 > POST`,
    ];
    expect([...pathsOf('sync')]).toEqual(expect.arrayContaining(expected));
  });

  it('contains a webhook of a provider, and what the gateway does about it', () => {
    const root = 'POST /webhook/{environmentUuid}/{providerConfigKey}';
    const paths = [...pathsOf('webhook')];
    expect(paths).toContain(root);
    expect(paths).toContain(`${root} > process svc.webhooks-in.v1`);
  });

  it('continues at the provider and at the receiver of webhooks', () => {
    const calls = collector.spans.filter(({ name, kind }) => name === 'GET' && kind === 3);
    const toProvider = new Set(crm.account.asked.map(({ traceparent }) => traceparent));
    for (const call of calls) expect(toProvider).toContain(sentBy(call));
    const [delivery] = tracedBy('sync').spans.filter(({ name }) => name === 'POST');
    const sent = crm.webhooks('contacts').map(({ headers }) => headers['traceparent']);
    expect(sent).toContain(sentBy(delivery!));
  });

  it('is not recorded when the caller has not sampled it, and still names its parent', () => {
    expect(tracedBy('unsampled').spans).toEqual([]);
    const [, second] = crm.account.asked.filter(({ path }) => path.startsWith('/contacts'));
    expect(second?.traceparent).toMatch(
      new RegExp(`^00-${callers.unsampled.slice(3, 35)}-[0-9a-f]{16}-00$`),
    );
  });
});

describe('a span', () => {
  it('has the attributes of the semantic conventions', () => {
    const { spans } = tracedBy('sync');
    const attributesOf = (name: string) => spans.find((span) => span.name === name)?.attributes;
    expect(attributesOf('POST /sync/trigger')).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/sync/trigger',
      'http.response.status_code': 200,
    });
    expect(attributesOf('GET')).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(world.provider.url).port),
      'url.scheme': 'http',
    });
    expect(attributesOf('process svc.internal.record-commands.v1')).toMatchObject({
      'messaging.system': 'svc',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'svc.internal.record-commands.v1',
      'messaging.consumer.group.name': 'svc.record-owners',
    });
    expect(attributesOf('process svc.records.v1')).toMatchObject({
      'messaging.batch.message_count': 1,
    });
  });

  it('names its process and thread', () => {
    const resources = tracedBy('sync').spans.map(({ resource }) => resource);
    expect(new Set(resources.map((resource) => resource['svc.thread']))).toEqual(
      new Set(['main', 'owners', 'projection']),
    );
    expect(new Set(resources.map((resource) => resource['service.instance.id'])).size).toBe(1);
    expect(resources[0]).toMatchObject({
      'service.name': 'svc',
      'deployment.environment.name': 'test',
      'svc.roles': ['api', 'owner', 'projector', 'runner', 'webhooks'],
    });
  });

  it('contains no secret, no query and no payload', () => {
    const { apiKey } = world.provider;
    const { key, accountKey, prodKey } = world.gateway;
    const received = Buffer.concat(collector.bytes);
    expect(received.includes(crm.id)).toBe(false);
    const signingText = readWebhookSecret(world.signingKey).toString();
    for (const text of [secret, apiKey, key, accountKey, prodKey, world.signingKey, signingText])
      expect(received.includes(text)).toBe(false);
  });
});

describe('a gateway without a collector', () => {
  it('loads nothing of OpenTelemetry in any thread', async () => {
    const isLoaded = (line: string): boolean => line.startsWith('loaded in ');
    const threads = tracedLog.filter(isLoaded).map((line) => line.split(' ')[2]);
    expect(new Set(threads)).toEqual(new Set(['main:', 'owners:', 'projection:']));
    await world.restart(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: '' });
    await crm.run('contacts');
    await world.gateway.stop();
    expect(world.gateway.log.filter(isLoaded)).toEqual([]);
  });
});
