/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer */
import { BusyUpstream } from '../fakes/busy-upstream.ts';
import { standardWebhook, webhookProviders } from '../fakes/fake-webhook-provider.ts';
import { isOnServices } from '../processes/deployment.ts';
import type { GatewayAccess, RunningGateway } from '../processes/gateway.ts';
import { openCrmWorld, succeeded, type CrmWorld } from './crm-world.ts';
import { compileFunctions } from './deploy.ts';
import { functionsProject } from './functions-project.ts';

export const integration = 'notes';
const secret = 'whsec_b2YgYW4gZW5kIHRvIGVuZCB0ZXN0';

/** Its webhooks and the runs of the action are reported to the provider. */
const files = {
  [`${integration}/syncs/hears.ts`]: `import { createSync } from 'svc';
import { z } from 'zod';

const sync = createSync({
  description: 'Reports what it hears',
  frequency: 'every week',
  autoStart: true,
  models: { Note: z.object({ id: z.string() }) },
  webhookSubscriptions: ['note.edited'],
  exec: async () => {},
  onWebhook: async (svc, payload) => {
    await svc.post({ endpoint: '/heard/' + svc.connectionId, data: payload });
  },
});

export default sync;
`,
  [`${integration}/actions/report.ts`]: `import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Reports a number',
  input: z.object({ n: z.number() }),
  output: z.void(),
  exec: async (svc, { n }) => {
    await svc.post({ endpoint: '/reported/' + svc.connectionId, data: { n } });
  },
});

export default action;
`,
};

/** A gateway with webhooks of a slow provider; with services two of them. */
export interface HearingWorld extends AsyncDisposable {
  readonly world: CrmWorld;
  readonly upstream: BusyUpstream;
  /** With services the second one may be killed. */
  readonly nodes: readonly RunningGateway[];
  connect(id: string): Promise<void>;
  /** Sends a webhook of the provider for the connection. */
  send(id: string, n: number, node?: GatewayAccess): Promise<Response>;
  /** Sets something of a function: `concurrency`, for example. */
  set(type: 'sync' | 'action', what: string, body: object): Promise<void>;
}

export async function openHearingWorld(): Promise<HearingWorld> {
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(await new BusyUpstream().listen());
  const definitions = webhookProviders(upstream.url);
  const hosts = [new URL(upstream.url).host];
  const env = { SVC_RATE_LIMIT_PER_MINUTE: '0' };
  const world = stack.use(await openCrmWorld({ definitions, hosts, env }));
  const others: RunningGateway[] = [];
  if (isOnServices()) {
    const another = await world.startAnother();
    stack.defer(() => another.stop());
    others.push(another);
  }
  const done = async (method: string, path: string, body: object) =>
    succeeded(await world.gateway.call(method, path, { body }));
  await done('POST', '/integrations', { provider: 'notes', unique_key: integration });
  using project = functionsProject(files);
  await done('POST', '/functions/deployments/bundle', await compileFunctions(project.root));
  const webhook = `/integrations/${integration}?include=webhook`;
  const shown = succeeded(await world.gateway.call('GET', webhook));
  const path = new URL(shown.data.webhook_url as string).pathname;
  const opened = stack.move();
  return {
    world,
    upstream,
    get nodes() {
      return [world.gateway, ...others];
    },
    async connect(id) {
      const connection = { provider_config_key: integration, connection_id: id };
      const credentials = { type: 'API_KEY', apiKey: 'k' };
      const metadata = { webhookSecret: secret };
      await done('POST', '/connections', { ...connection, credentials, metadata });
    },
    send(id, n, node = world.gateway) {
      const event = { type: 'note.edited', note_id: id, n };
      const url = `${node.url}${path}?svcConnectionId=${id}`;
      const sent = standardWebhook(url, secret, event, Date.now());
      return fetch(sent.url, { method: 'POST', headers: sent.headers, body: sent.body });
    },
    async set(type, what, body) {
      const name = type === 'sync' ? 'hears' : 'report';
      const query = what === 'debounce' ? '' : `?type=${type}`;
      await done('PUT', `/integrations/${integration}/functions/${name}/${what}${query}`, body);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
