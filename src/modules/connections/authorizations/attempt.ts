import { randomUUID } from 'node:crypto';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError, type Issue } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import type { ConnectSession, IntegrationDefaults } from '../connect-sessions/connect-session.ts';
import { defaultsOf } from '../connect-sessions/handlers.ts';
import { findConnection } from '../connections/queries.ts';
import type { Connection } from '../connections/state.ts';
import type { AuthModeRules } from '../credentials/modes/mode.ts';
import { authModeRules } from '../credentials/modes/registry.ts';
import { openConnectionConfig } from '../credentials/sealing.ts';
import type { Integration } from '../integrations/integration.ts';
import { requireIntegration } from '../integrations/queries.ts';
import type { ProviderCatalogue } from '../providers/catalogue.ts';
import type { Provider, FieldSchema } from '../providers/definition.ts';
import { fieldProblem } from '../providers/field-check.ts';

/** Set by the application or the provider: refused from a browser. */
const reserved = new Set([
  'oauth_scopes_override',
  'authorization_params',
  'installation_id',
  'app_id',
  'jwtToken',
  'pending',
  'userCredentials',
]);
/** Sent by old clients for the address of webhooks, which a browser may not set. */
const dropped = 'webhook_url';

/**
 * Validates the configuration of the user (`params[name]=value`) against the provider's fields
 * (docs/reference/provider-format.md#field-schemas); other names are data. An absent field gets its default. @param
 * existing the existing configuration: by the application, or of the connection to reauthorize
 * @throws GatewayError `invalid_query_params` naming each field
 */
export function checkedParams(
  provider: Provider,
  params: Readonly<Record<string, string>>,
  existing: JsonObject,
): Readonly<Record<string, string>> {
  const fields = provider.connection_config ?? {};
  const values: Record<string, string> = {};
  const errors: Issue[] = [];
  const refuse = (name: string, message: string) =>
    void errors.push({ code: 'custom', message, path: ['params', name] });
  for (const [name, value] of Object.entries(params)) {
    if (name === dropped || value === '') continue;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const problem = problemOf(name, field, value);
    if (problem !== null) refuse(name, problem);
    else values[name] = value;
  }
  const all = { ...values, ...existing };
  for (const [name, field] of Object.entries(fields)) {
    if (isGiven(all[name]) || isGiven(params[name])) continue;
    if (field.default_value !== undefined) values[name] = field.default_value;
    else if (isNeeded(field, all)) refuse(name, 'The field is required.');
  }
  if (errors.length > 0) throw new GatewayError('invalid_query_params', { errors });
  return values;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== '';

function problemOf(name: string, field: FieldSchema | undefined, value: string): string | null {
  if (reserved.has(name) || field?.automated === true)
    return 'The service fills this field itself.';
  return field === undefined ? null : fieldProblem(field, value);
}

function isNeeded(field: FieldSchema, values: JsonObject): boolean {
  if (field.optional === true || field.automated === true) return false;
  const { visible_when: condition } = field;
  return condition === undefined || values[condition.field] === condition.equals;
}

/** An attempt of a user to authorize a connection, validated as far as possible without credentials. */
export interface Attempt {
  /** Id of its operation in the log that users read. */
  readonly id: string;
  readonly session: ConnectSession;
  readonly defaults: IntegrationDefaults;
  readonly integration: Integration;
  readonly provider: Provider;
  readonly rules: AuthModeRules;
  readonly connectionId: string;
  /** The connection to reauthorize; null = a new one. */
  readonly known: Connection | null;
  /** The input of the user, overridden by the values of the application. */
  readonly askedConfig: JsonObject;
  /** `askedConfig` over what the known connection has. */
  readonly connectionConfig: JsonObject;
}

export interface TargetRequest {
  readonly session: ConnectSession;
  readonly integrationKey: string;
  /** Whether the endpoint supports the provider. */
  readonly isFor: (provider: Provider) => boolean;
  /** Of an unknown integration; 404 when absent. */
  readonly unknownStatus?: number | undefined;
}

export interface AttemptRequest extends TargetRequest {
  readonly params: Readonly<Record<string, string>>;
}

/** The integration that a session may connect, and what counts before the input of the user. */
export interface AuthorizationTarget {
  readonly defaults: IntegrationDefaults;
  readonly integration: Integration;
  readonly provider: Provider;
  /** The connection to reauthorize; null = a new one. */
  readonly known: Connection | null;
  /** Configuration by the application. */
  readonly fixed: JsonObject;
  /** Configuration of the known connection. */
  readonly stored: JsonObject;
}

/**
 * The first checks in the order of docs/reference/http.md#credential-forms.
 * @throws GatewayError `unknown_provider_config`, `unknown_provider_template`, `invalid_auth_mode`,
 *   `integration_not_allowed`, `invalid_connection`
 */
export async function authorizationTarget(
  { control, providers, vault }: SealedEntities & { readonly providers: ProviderCatalogue },
  { session, integrationKey, isFor, unknownStatus: status = 404 }: TargetRequest,
): Promise<AuthorizationTarget> {
  const code = 'unknown_provider_config';
  const { environmentUid } = session;
  const integration = await requireIntegration(control, environmentUid, integrationKey, {
    code,
    status,
  });
  const provider = providers.find(integration.provider);
  if (provider === null) throw new GatewayError('unknown_provider_template');
  if (!isFor(provider)) {
    const message = `The provider "${provider.name}" uses the authentication mode ${provider.auth_mode}.`;
    throw new GatewayError('invalid_auth_mode', { message });
  }
  const { allowedIntegrations } = session;
  if (allowedIntegrations.length > 0 && !allowedIntegrations.includes(integrationKey)) {
    throw new GatewayError('integration_not_allowed');
  }
  const known = reconnected({ control }, session);
  const defaults = await defaultsOf(vault, session, integrationKey);
  const fixed = withoutEmpty({
    ...defaults.connectionConfig,
    ...tokenParamsOf(provider, defaults),
  });
  const stored = known === null ? {} : await openConnectionConfig(vault, known);
  return { defaults, integration, provider, known, fixed, stored };
}

/** @throws GatewayError as `authorizationTarget`, `invalid_query_params` */
export async function beginAttempt(
  services: SealedEntities & { readonly providers: ProviderCatalogue },
  request: AttemptRequest,
): Promise<Attempt> {
  const target = await authorizationTarget(services, request);
  const { defaults, integration, provider, known, fixed, stored } = target;
  const input = checkedParams(provider, request.params, { ...stored, ...fixed });
  const askedConfig = { ...input, ...fixed };
  return {
    id: randomUUID(),
    session: request.session,
    defaults,
    integration,
    provider,
    rules: authModeRules[provider.auth_mode],
    connectionId: known?.connectionId ?? randomUUID(),
    known,
    askedConfig,
    connectionConfig: { ...stored, ...askedConfig },
  };
}

/**
 * Without a redirect they are sent in the token calls, now and at every refresh
 * (docs/reference/auth-modes.md#oauth2_cc).
 */
function tokenParamsOf(
  { auth_mode: mode }: Provider,
  { authorizationParams }: IntegrationDefaults,
): JsonObject {
  const isMeant = mode === 'OAUTH2_CC' && authorizationParams !== undefined;
  return isMeant ? { authorization_params: authorizationParams } : {};
}

/** @throws GatewayError `invalid_connection`: it was deleted, or another has its id now */
function reconnected(
  { control }: { readonly control: ControlPlane },
  { environmentUid, reconnects }: ConnectSession,
): Connection | null {
  if (reconnects === null) return null;
  const { uid, integrationKey, connectionId } = reconnects;
  const existing = findConnection(control, environmentUid, integrationKey, connectionId);
  if (existing?.uid !== uid) throw new GatewayError('invalid_connection');
  return existing;
}

export const withoutEmpty = (config: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(config).filter(([, value]) => value !== '' && value !== null));
