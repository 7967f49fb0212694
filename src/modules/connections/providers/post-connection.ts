import { createHash } from 'node:crypto';
import { bodyText } from '#kernel/body-text.ts';
import { GatewayError } from '#kernel/errors.ts';
import { parseExactJson } from '#kernel/exact-json.ts';
import { textAt } from '#kernel/json-path.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { HttpFailure } from '#ports/http-client.ts';
import { interpolateUrl } from '#rules/interpolate.ts';
import type { ModeContext } from '../credentials/modes/mode.ts';
import type { Provider } from './definition.ts';
import { buildProviderRequest, type OpenedConnection, type OpenedIntegration } from './inject.ts';

const timeoutMs = 15_000;
const answerBytesMax = 1024 ** 2;

/** How a script calls the provider: the credentials of the connection are injected. */
interface ProviderAccess {
  readonly provider: Provider;
  /** The caller's values stay, and select one of several accounts. */
  readonly connectionConfig: JsonObject;
  get(address: string, headers?: Readonly<Record<string, string>>): Promise<Json>;
  readonly accessToken: string;
  readonly credentials: JsonObject;
}

/** Configuration that only the provider knows, read with the new credentials. */
type Script = (access: ProviderAccess) => Promise<JsonObject>;

/** By the name in definitions (`post_connection_script`). */
const scripts: Readonly<Record<string, Script>> = {
  atlassianCloudId,
  docusignAccount,
  githubHandle,
  gmailAddress,
  mailchimpDataCentre,
  xeroTenant,
};

export const isPostConnectionScript = (name: string): boolean => Object.hasOwn(scripts, name);

/**
 * Runs the provider's script, if it has one.
 * @returns the configuration that it found, without values that the connection already has
 * @throws GatewayError `connection_test_failed`: the provider did not return it, or why it cannot be called
 */
export async function callAfterConnecting(
  deps: Pick<ModeContext, 'http' | 'clock'>,
  provider: Provider,
  connection: OpenedConnection,
  integration: OpenedIntegration,
): Promise<JsonObject> {
  const script = scripts[provider.post_connection_script ?? ''];
  if (script === undefined) return {};
  const { connectionConfig } = connection;
  const configuration = await script({
    provider,
    connectionConfig,
    accessToken: textAt(connection.credentials ?? {}, 'access_token') ?? '',
    credentials: connection.credentials ?? {},
    get: (address, headers) => get(deps, { provider, connection, integration, address, headers }),
  });
  return Object.fromEntries(
    Object.entries(configuration).filter(([name]) => connectionConfig[name] === undefined),
  );
}

async function get(
  { http, clock }: Pick<ModeContext, 'http' | 'clock'>,
  subject: {
    readonly provider: Provider;
    readonly connection: OpenedConnection;
    readonly integration: OpenedIntegration;
    readonly address: string;
    readonly headers: Readonly<Record<string, string>> | undefined;
  },
): Promise<Json> {
  const { address, provider, ...rest } = subject;
  const request = buildProviderRequest({
    ...rest,
    provider,
    now: clock.now(),
    method: 'GET',
    endpoint: '',
    isEndpointTemplate: false,
    baseUrlOverride: address,
  });
  try {
    const reply = await http.request({ ...request, timeoutMs, maxBytes: answerBytesMax });
    if (reply.status !== 200) throw noConfiguration(provider, `answered ${reply.status}`);
    return parseExactJson(bodyText(reply.body, reply.headers['content-type'])) as Json;
  } catch (cause) {
    if (cause instanceof HttpFailure)
      throw noConfiguration(provider, `failed (${cause.code})`, cause);
    if (cause instanceof SyntaxError)
      throw noConfiguration(provider, 'did not answer with JSON', cause);
    throw cause;
  }
}

function noConfiguration({ name }: Provider, what: string, cause?: unknown): GatewayError {
  const message = `The provider "${name}" ${what} when it was asked for the account of the connection.`;
  return new GatewayError('connection_test_failed', { message }, { cause });
}

/** The one that matches the caller's value, else the provider's first. */
function accountOf(
  { provider, connectionConfig }: ProviderAccess,
  accounts: Json | undefined,
  fields: Readonly<Record<string, string>>,
  isPreferred: (account: JsonObject) => boolean = () => true,
): JsonObject {
  const listed = Array.isArray(accounts) ? (accounts as readonly Json[]).filter(isJsonObject) : [];
  const configured = Object.entries(fields).filter(
    ([name]) => connectionConfig[name] !== undefined,
  );
  const fitting = listed.filter((account) =>
    configured.every(([name, path]) => textAt(account, path) === connectionConfig[name]),
  );
  const chosen = fitting.find(isPreferred) ?? fitting[0];
  if (chosen === undefined) throw noConfiguration(provider, 'returned no matching account');
  const pairs = Object.entries(fields).map(([name, path]) => [name, textAt(chosen, path) ?? '']);
  return Object.fromEntries(pairs) as JsonObject;
}

/** An address beside that of the token, such as `…/oauth/userinfo` beside `…/oauth/token`. */
function besideToken({ provider, connectionConfig }: ProviderAccess, name: string): string {
  const { token_url: template } = provider;
  const values = { connectionConfig, metadata: {}, credentials: null, now: 0, random: '' };
  const address = typeof template === 'string' ? interpolateUrl(template, values) : null;
  if (address === null) throw noConfiguration(provider, 'has no token_url');
  return address.slice(0, address.lastIndexOf('/') + 1) + name;
}

/** The site behind the API of Jira and Confluence; a given `siteUrl` selects one of several. */
async function atlassianCloudId(access: ProviderAccess): Promise<JsonObject> {
  const [root = ''] = (access.provider.proxy?.base_url ?? '').split('/ex/');
  const sites = await access.get(`${root}/oauth/token/accessible-resources`);
  const account = accountOf(access, sites, { cloudId: 'id', siteUrl: 'url' });
  // Webhooks of Jira find the connection by this name.
  return { ...account, baseUrl: account['siteUrl'] ?? '' };
}

/** The default account of the user, or the one with the given `accountId`. */
async function docusignAccount(access: ProviderAccess): Promise<JsonObject> {
  const user = await access.get(besideToken(access, 'userinfo'));
  const accounts = isJsonObject(user) ? user['accounts'] : undefined;
  const claims = { accountId: 'account_id', baseUri: 'base_uri' };
  return accountOf(access, accounts, claims, ({ is_default: isDefault }) => isDefault === true);
}

/** The user who authorized an app that is not installed yet: the webhook of the installation names them. */
async function githubHandle(access: ProviderAccess): Promise<JsonObject> {
  const { provider, credentials } = access;
  if (credentials['app'] !== null) return {};
  const user = await access.get(`${provider.proxy?.base_url ?? ''}/user`);
  const login = isJsonObject(user) ? textAt(user, 'login') : null;
  if (login === null) throw noConfiguration(provider, 'did not return the user');
  return { handle: login };
}

/** The address of the mailbox, as the hash by which its notifications find the connection. */
async function gmailAddress(access: ProviderAccess): Promise<JsonObject> {
  const { provider } = access;
  const profile = await access.get(`${provider.proxy?.base_url ?? ''}/gmail/v1/users/me/profile`);
  const address = isJsonObject(profile) ? textAt(profile, 'emailAddress') : null;
  if (address === null) throw noConfiguration(provider, 'did not return the mailbox');
  return { emailAddressHash: createHash('sha256').update(address).digest('hex') };
}

async function mailchimpDataCentre(access: ProviderAccess): Promise<JsonObject> {
  const authorization = `OAuth ${access.accessToken}`;
  const user = await access.get(besideToken(access, 'metadata'), { authorization });
  return accountOf(access, [user], { dc: 'dc' });
}

/** The first organization that the user gave access to, or the one with the given `tenant_id`. */
async function xeroTenant(access: ProviderAccess): Promise<JsonObject> {
  const tenants = await access.get(`${access.provider.proxy?.base_url ?? ''}/connections`);
  return accountOf(access, tenants, { tenant_id: 'tenantId' });
}
