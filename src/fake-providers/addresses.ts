import type { LookupStep, Provider } from '#modules/connections/providers/definition.ts';
import type { Role } from './exchange.ts';

const leadingToken = /^\$\{([^{}]+)\}/;

/** `https://host/path` as a path below the address of the role; hosts of several alternatives alike. */
const below = (template: string, address: string): string =>
  template.replace(/https:\/\//g, `${address}/`);

/** The definition with every address moved to the fake provider: `<base>/<role>/<host>/<path>`. */
export function definitionAt(provider: Provider, base: string): Provider {
  const at = (role: Role, template: string) => below(template, `${base}/${role}`);
  const { token_url: tokenUrl, proxy, auth_mode: mode } = provider;
  const verification = proxy?.verification;
  const moved = <T extends { readonly url?: string }>(role: Role, call: T | undefined) => {
    const template = call?.url ?? (typeof tokenUrl === 'string' ? tokenUrl : '');
    return call && { ...call, url: at(role, template) };
  };
  const tokenAddress = (): Provider['token_url'] => {
    if (tokenUrl === undefined) return undefined;
    if (typeof tokenUrl === 'string')
      return at(mode === 'APP' ? 'installation' : 'token', tokenUrl);
    return { OAUTH2: at('token', tokenUrl.OAUTH2), APP: at('installation', tokenUrl.APP) };
  };
  return withoutUndefined({
    ...provider,
    authorization_url: provider.authorization_url && at('authorize', provider.authorization_url),
    mcp_server_url: provider.mcp_server_url && at('api', provider.mcp_server_url),
    request_url: provider.request_url && at('request', provider.request_url),
    refresh_url: provider.refresh_url && at('refresh', provider.refresh_url),
    introspection_url: provider.introspection_url && at('introspect', provider.introspection_url),
    token_url: tokenAddress(),
    revocation: moved('revoke', provider.revocation),
    token_exchange: moved('exchange', provider.token_exchange),
    access_token_refresh: moved('renewal', provider.access_token_refresh),
    additional_steps: provider.additional_steps?.map((step, index) => ({
      ...step,
      token_url: at(`step${index + 1}`, step.token_url),
    })),
    connection_lookup: provider.connection_lookup?.map((step) => lookupAt(step, provider, at)),
    proxy: proxy && {
      ...proxy,
      base_url: proxy.base_url && at('api', proxy.base_url),
      verification: verification && {
        ...verification,
        base_url_override:
          verification.base_url_override && at('api', verification.base_url_override),
      },
    },
  } as Provider);
}

/** Beside the token address or below the base URL a path is relative, and moves with them. */
function lookupAt(
  step: LookupStep,
  { proxy }: Provider,
  at: (role: Role, template: string) => string,
): LookupStep {
  const { endpoint, relative_to: base } = step;
  if (endpoint === undefined) return step;
  if (/^https:/.test(endpoint)) return { ...step, endpoint: at('api', endpoint) };
  const [origin = ''] = /^https:..[^/]*/.exec(proxy?.base_url ?? '') ?? [];
  return base === 'origin' ? { ...step, endpoint: at('api', origin + endpoint) } : step;
}

function withoutUndefined<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Names of the values that an address of the definition begins with, and the address they then stand for. */
export function leadingAddresses(provider: Provider, base: string): Record<string, string> {
  const templates: [Role, string | undefined][] = [
    ['authorize', provider.authorization_url],
    ['api', provider.proxy?.base_url],
  ];
  return Object.fromEntries(
    templates.flatMap(([role, template]) => {
      const name = leadingToken.exec(template ?? '')?.[1];
      return name === undefined ? [] : [[name, `${base}/${role}/${provider.name}.example`]];
    }),
  );
}

/** Names of the values with which addresses begin that are called before any answer, and the addresses they stand for. */
export function typedAddresses(provider: Provider, base: string): Record<string, string> {
  const { token_url: tokenUrl, auth_mode: mode, name } = provider;
  if (mode === 'MCP_OAUTH2') return leadingAddresses(provider, base);
  const leading = leadingToken.exec(typeof tokenUrl === 'string' ? tokenUrl : '')?.[1];
  if (leading === undefined) return {};
  return { ...leadingAddresses(provider, base), [leading]: `${base}/token/${name}.example` };
}

/** The address that the definition gives the role; null where it has none. */
export function templateOf(definition: Provider, role: Role): string | null {
  const { token_url: tokenUrl } = definition;
  switch (role) {
    case 'authorize':
      return definition.authorization_url ?? null;
    case 'request':
      return definition.request_url ?? null;
    case 'refresh':
      return definition.refresh_url ?? null;
    case 'introspect':
      return definition.introspection_url ?? null;
    case 'token':
      return (typeof tokenUrl === 'string' ? tokenUrl : tokenUrl?.OAUTH2) ?? null;
    case 'installation':
      return (typeof tokenUrl === 'string' ? tokenUrl : tokenUrl?.APP) ?? null;
    case 'exchange':
      return definition.token_exchange?.url ?? null;
    case 'renewal':
      return definition.access_token_refresh?.url ?? null;
    case 'revoke':
      return definition.revocation?.url ?? null;
    case 'api':
      return definition.proxy?.base_url ?? null;
    default:
      return (
        definition.additional_steps?.[Number(role.slice('step'.length)) - 1]?.token_url ?? null
      );
  }
}
