import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFakeTokenEndpoint, type FakeTokenEndpoint } from '../fakes/fake-token-endpoint.ts';
import { deploymentEnv } from '../processes/deployment.ts';
import { startGateway, type Answer, type RunningGateway } from '../processes/gateway.ts';
import { succeeded } from './crm-world.ts';

/** An OAuth provider, and the integration of its name. */
export interface RefreshedProvider {
  readonly name: string;
  readonly endpoint: FakeTokenEndpoint;
}

/** Gateways on one log in processes of their own, and providers that keep the rules of refresh tokens. */
export interface RefreshNodes extends AsyncDisposable {
  readonly living: readonly RunningGateway[];
  /** Two that give another refresh token with each refresh, and end the one before. */
  readonly rotating: RefreshedProvider;
  readonly interrupted: RefreshedProvider;
  /** Refresh tokens stay; access tokens last for `keptS` seconds. */
  readonly keeping: RefreshedProvider;
  /** One more; it kills itself where the fault point says. */
  startAnother(faultPoint?: string): Promise<RunningGateway>;
  /** A new connection whose access token has expired. Resolves with its id. */
  connectExpired(provider: RefreshedProvider): Promise<string>;
}

export const keptS = 20;

export async function openRefreshNodes(livingCount: number): Promise<RefreshNodes> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-refresh-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const provider = async (name: string, isRotating: boolean): Promise<RefreshedProvider> => {
    const lifetime = isRotating ? {} : { expiresIn: keptS };
    return { name, endpoint: stack.use(await openFakeTokenEndpoint({ isRotating, ...lifetime })) };
  };
  const rotating = await provider('rotating', true);
  const interrupted = await provider('interrupted', true);
  const keeping = await provider('keeping', false);
  const all = [rotating, interrupted, keeping];
  const providers = join(folder, 'providers.json');
  await writeFile(providers, JSON.stringify(definitionsOf(all)));
  const env = {
    ...deploymentEnv(folder),
    SVC_PROVIDERS: providers,
    SVC_EGRESS_ALLOW: all.map(({ endpoint }) => endpoint.hostPort).join(','),
  };
  const nodes = stack.use(new AsyncDisposableStack());
  let started = 0;
  const startAnother = async (faultPoint?: string): Promise<RunningGateway> => {
    started += 1;
    const fault = faultPoint === undefined ? {} : { SVC_TEST_FAULT_POINT: faultPoint };
    const dataDir = join(folder, `node-${started}`);
    return nodes.use(await startGateway({ dataDir, env: { ...env, ...fault } }));
  };
  const first = await startAnother();
  const living = [first];
  while (living.length < livingCount) living.push(await startAnother());
  for (const one of all) await integrate(first, one);
  const opened = stack.move();
  return {
    living,
    rotating,
    interrupted,
    keeping,
    startAnother,
    connectExpired: (provider) => connectExpired(first, provider),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const definitionsOf = (providers: readonly RefreshedProvider[]): object =>
  Object.fromEntries(
    providers.map(({ name, endpoint: { url } }) => {
      const entry = { display_name: name, categories: [], docs: 'https://docs.example' };
      const urls = { authorization_url: url, token_url: url };
      return [name, { ...entry, ...urls, auth_mode: 'OAUTH2' }];
    }),
  );

async function integrate(node: RunningGateway, { name, endpoint }: RefreshedProvider) {
  const { clientId: client_id, clientSecret: client_secret } = endpoint;
  const credentials = { type: 'OAUTH2', client_id, client_secret };
  const body = { provider: name, unique_key: name, credentials };
  succeeded(await node.call('POST', '/integrations', { body }));
}

async function connectExpired(
  node: RunningGateway,
  { name, endpoint }: RefreshedProvider,
): Promise<string> {
  const id = `c-${randomUUID()}`;
  const body = {
    provider_config_key: name,
    connection_id: id,
    credentials: {
      type: 'OAUTH2',
      access_token: 'expired',
      refresh_token: endpoint.newFamily(),
      expires_at: '2026-01-01T00:00:00Z',
    },
  };
  succeeded(await node.call('POST', '/connections', { body }));
  return id;
}

/** `GET /connections/{id}` on the node. */
export const fetchFrom = (
  node: RunningGateway,
  { name }: RefreshedProvider,
  id: string,
): Promise<Answer> => node.call('GET', `/connections/${id}?provider_config_key=${name}`);
