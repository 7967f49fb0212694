import { circleFinder } from '#client/circle.ts';
import type { Answer, Client } from '#client/index.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { recipientOf, type Recipient } from '#rules/envelope.ts';
import { CommandFailure } from '../exit.ts';
import { inParallel } from '../in-parallel.ts';
import { configuredIntegrations } from '../service-command.ts';

export interface ExportRequest {
  /** With the key of the account: it grants the export. */
  readonly account: Client;
  /** With a key of the environment that reads credentials. */
  readonly client: Client;
  readonly environment: string;
  /** JWK. */
  readonly publicKey: JsonObject;
  readonly now: number;
  /** A line that the next one replaces. */
  readonly progress: (text: string) => void;
}

type ConfiguredIntegrations = Awaited<ReturnType<typeof configuredIntegrations>>;

/**
 * Everything that the environment holds but records and logs. What may be secret is in `sealed`, encrypted to the
 * public key.
 * @throws ApiError; CommandFailure for an unknown environment
 */
export async function exportEnvironment(request: ExportRequest): Promise<JsonObject> {
  const { account, client, environment, publicKey, now, progress } = request;
  const { data: environments } = await account.request('GET /environments');
  const found = environments.find(({ name }) => name === environment);
  if (found === undefined) throw new CommandFailure(`There is no environment "${environment}"`);
  const params = { environmentId: found.id };
  const body = { public_key: publicKey };
  const { data } = await account.request('POST /environments/{environmentId}/exports', {
    params,
    body,
  });
  const recipient = await recipientOf(publicKey);
  progress('Reading the environment');
  const { data: settings } = await account.request('GET /environments/{environmentId}', { params });
  const configured = await configuredIntegrations(client);
  return {
    format: 'svc-export',
    version: 1,
    exported_at: new Date(now).toISOString(),
    key_id: recipient.keyId,
    environment: await sealedSettings(recipient, settings),
    integrations: await integrationsOf(client, recipient),
    connections: await connectionsOf(client, data.grant, progress),
    syncs: await syncsOf(client, configured),
    functions: await functionsOf(client, configured),
    variables: await variablesOf(client, recipient),
    webhook_endpoints: await endpointsOf(client, recipient),
  };
}

type Settings = Answer<'GET /environments/{environmentId}'>['data'];

/** Addresses of webhooks may hold a secret. */
async function sealedSettings(
  { seal }: Recipient,
  { webhook_url, webhook_url_secondary, ...shown }: Settings,
): Promise<JsonObject> {
  const sealed = await seal('environment', { webhook_url, webhook_url_secondary });
  return { ...(shown as JsonObject), sealed };
}

async function integrationsOf(client: Client, { seal }: Recipient): Promise<JsonObject[]> {
  const { data } = await client.request('GET /integrations', { query: { credentials: 'none' } });
  return inParallel(data, async ({ unique_key: uniqueKey }) => {
    const query = { include: ['credentials', 'config'] as const };
    const input = { params: { uniqueKey }, query };
    const answer = await client.request('GET /integrations/{uniqueKey}', input);
    const { credentials, integration_config, custom, logo: _logo, ...shown } = answer.data;
    if (credentials === undefined) {
      const message = 'The key of the environment needs environment:integrations:read_credentials';
      throw new CommandFailure(message);
    }
    const fields = {
      credentials,
      integration_config: integration_config ?? {},
      custom: custom ?? {},
    };
    return { ...shown, sealed: await seal(`integrations/${uniqueKey}`, fields) };
  });
}

async function connectionsOf(
  client: Client,
  grant: string,
  progress: ExportRequest['progress'],
): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  const checkCircle = circleFinder();
  for (let cursor: string | undefined; ;) {
    const page = await client.request('POST /connections/export', { body: { grant, cursor } });
    all.push(...(page.connections as readonly JsonObject[]));
    progress(`Reading connections: ${all.length}`);
    if (page.next_cursor === null) return all;
    cursor = page.next_cursor;
    checkCircle(cursor);
  }
}

async function syncsOf(client: Client, configured: ConfiguredIntegrations): Promise<JsonObject[]> {
  const some = configured.filter(({ syncs }) => syncs.length > 0);
  const found = await inParallel(some, async ({ providerConfigKey: provider_config_key }) => {
    const query = { syncs: '*', provider_config_key };
    const { syncs } = await client.request('GET /sync/status', { query });
    return syncs.map(({ connection_id, name, variant, frequency, status, checkpoint }) => {
      const shown = { connection_id, name, variant, frequency, status };
      return { provider_config_key, ...shown, checkpoint: checkpoint as JsonObject | null };
    });
  });
  return found.flat();
}

async function functionsOf(
  client: Client,
  configured: ConfiguredIntegrations,
): Promise<JsonObject[]> {
  const all = configured.flatMap(({ providerConfigKey: uniqueKey, ...kinds }) =>
    [...kinds.syncs, ...kinds.actions, ...kinds['on-events'], ...kinds['on-changes']].map(
      (one) => ({ uniqueKey, one }),
    ),
  );
  return inParallel(all, async ({ uniqueKey, one: { name, type, version } }) => {
    const path = 'GET /integrations/{uniqueKey}/functions/{name}/code';
    const { code } = await client.request(path, { params: { uniqueKey, name }, query: { type } });
    return { provider_config_key: uniqueKey, name, type, version, code };
  });
}

async function variablesOf(client: Client, { seal }: Recipient): Promise<JsonObject[]> {
  const variables = await client.request('GET /environment-variables');
  return inParallel(variables, async ({ name, value }) => ({
    name,
    sealed: await seal(`variables/${name}`, { value }),
  }));
}

async function endpointsOf(client: Client, { seal }: Recipient): Promise<JsonObject[]> {
  const { data } = await client.request('GET /webhook-endpoints');
  return inParallel(data, async ({ url, oauth: _o, client_certificate: _c, ...shown }) => ({
    ...shown,
    sealed: await seal(`webhook_endpoints/${shown.id}`, { url }),
  }));
}
