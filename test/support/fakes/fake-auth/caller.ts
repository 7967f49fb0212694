import type { PlayedProvider } from '#fake-providers/play.ts';
import { visit } from '#fake-providers/server.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import type {
  ModeContext,
  ObtainedCredentials,
  RedirectStartContext,
} from '#modules/connections/credentials/modes/mode.ts';
import { authModeRules } from '#modules/connections/credentials/modes/registry.ts';
import { parseIntegrationCredentials } from '#modules/connections/integrations/credentials.ts';
import { buildProviderRequest, type ProviderCall } from '#modules/connections/providers/inject.ts';
import type { HttpClient } from '#ports/http-client.ts';

const callTimeoutMs = 10_000;

/** What the service does with a played provider, the modes and the injection alone: no gateway around them. */
export interface Caller {
  readonly rules: (typeof authModeRules)[keyof typeof authModeRules];
  readonly context: (connectionConfig?: JsonObject) => ModeContext;
  readonly redirectContext: (more?: Partial<RedirectStartContext>) => RedirectStartContext;
  /** Through the redirect: the person visits, and comes back. */
  readonly connect: (more?: Partial<RedirectStartContext>) => Promise<ObtainedCredentials>;
  /** Imports what the provider takes; `more` is laid over it. */
  readonly import: (more?: JsonObject) => Promise<ObtainedCredentials>;
  /** The status that the API answers to a call with the credentials. */
  readonly call: (obtained: ObtainedCredentials, options?: CallOptions) => Promise<number>;
  /** The whole answer to a call as functions write it. */
  readonly ask: (
    obtained: ObtainedCredentials,
    config: Pick<ProviderCall, 'endpoint' | 'params' | 'data' | 'headers' | 'baseUrlOverride'> & {
      readonly method?: string;
    },
  ) => Promise<{
    status: number;
    statusText: string;
    headers: Readonly<Record<string, string>>;
    data: unknown;
  }>;
}

export interface CallOptions {
  readonly method?: string;
  readonly path?: string;
  readonly data?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function callerOf(played: PlayedProvider, http: HttpClient): Caller {
  const { definition: provider, integration } = played;
  const rules = authModeRules[provider.auth_mode];
  const client = parseIntegrationCredentials(provider, integration ?? undefined);
  const typed = played.connectionConfig;
  const context = (connectionConfig: JsonObject = typed): ModeContext => ({
    provider,
    client,
    connectionConfig,
    http,
    clock: systemClock,
  });
  const registered = new Map<string, JsonObject>();
  const redirectContext = (more: Partial<RedirectStartContext> = {}): RedirectStartContext => ({
    ...context(),
    callbackUrl: 'http://gateway.test/oauth/callback',
    state: 'state-1',
    scopes: client?.scopes?.split(',') ?? [],
    authorizationParams: {},
    override: null,
    publicUrl: 'http://gateway.test',
    registeredClients: {
      find: async (issuer) => registered.get(issuer) ?? null,
      keep: async (issuer, client) => {
        registered.set(issuer, client);
        return client;
      },
    },
    refusedClientId: null,
    ...more,
  });
  const ask: Caller['ask'] = async (
    { credentials, connectionConfig },
    { endpoint, method = 'GET', ...rest },
  ) => {
    const request = buildProviderRequest({
      provider,
      connection: {
        credentials,
        connectionConfig: { ...played.toldConfig, ...typed, ...connectionConfig },
        metadata: {},
      },
      integration: { clientId: client?.clientId, clientSecret: client?.clientSecret },
      now: systemClock.now(),
      method,
      endpoint,
      isEndpointTemplate: false,
      ...rest,
    });
    const reply = await http.request({ ...request, timeoutMs: callTimeoutMs });
    const { status, statusText, headers } = reply;
    return { status, statusText, headers, data: JSON.parse(reply.body.toString()) as unknown };
  };
  return {
    rules,
    context,
    redirectContext,
    async connect(more = {}) {
      const asked = redirectContext(more);
      const { url, kept } = await rules.redirect!.start(asked);
      return rules.redirect!.finish(await visit(url), kept, asked);
    },
    import: (more = {}) => {
      const { type, ...fields } = played.importable();
      const given = rules.importShape(provider).parse({ type, ...fields, ...more });
      return rules.import(given, context());
    },
    call: async (obtained, { path = '/me', ...rest } = {}) =>
      (await ask(obtained, { endpoint: path, ...rest })).status,
    ask,
  };
}
