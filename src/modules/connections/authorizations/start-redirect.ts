import { randomBytes } from 'node:crypto';
import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { textAt } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import type { AddressSettings, SealedEntities } from '#modules/access/services.ts';
import { sealingContext, type Vault } from '#modules/access/vault/vault.ts';
import type { HttpClient } from '#ports/http-client.ts';
import { modeContext } from '../credentials/mode-context.ts';
import type { RedirectStartContext } from '../credentials/modes/mode.ts';
import { openCredentials } from '../credentials/sealing.ts';
import { registeredClientsOf } from '../integrations/registered-clients.ts';
import { callbackPath } from '../providers/callback-url.ts';
import type { Attempt } from './attempt.ts';
import type { Authorization, RedirectDetails } from './authorization.ts';
import { authorizationRef, type AuthorizationEntity } from './entity.ts';

export interface StartedRedirect {
  /** Of the provider. */
  readonly url: string;
  readonly state: string;
}

/**
 * Gets the redirect from the mode, and stores the state for the callback.
 * @throws ProviderAuthError; GatewayError `missing_api_url`, `invalid_credentials` (no client)
 */
export async function startRedirect(
  services: SealedEntities & {
    readonly http: HttpClient;
    readonly clock: Clock;
    readonly settings: AddressSettings;
  },
  attempt: Attempt,
  request: {
    readonly socketId: string | null;
    readonly override: RedirectDetails['override'];
  },
  options: ExecuteOptions,
): Promise<StartedRedirect> {
  const { control, vault, settings } = services;
  const { rules, integration, provider, connectionConfig, session } = attempt;
  if (rules.redirect === null) throw new GatewayError('invalid_auth_mode');
  const context = await modeContext(services, integration, provider, connectionConfig);
  const state = randomBytes(16).toString('hex');
  const flow = {
    // Where the provider calls the address by a name, the integration has it.
    callbackUrl: integration.integrationConfig['redirectUri'] ?? settings.publicUrl + callbackPath,
    authorizationParams: paramsOf(attempt),
    override: request.override,
  };
  const scopes = redirectScopes(connectionConfig, context.client?.scopes);
  const { url, kept } = await rules.redirect.start({
    ...context,
    ...flow,
    scopes,
    state,
    ...(await startingPoint(services, attempt, options)),
  });
  const { environmentUid, endUser, tags, webhookUrlOverride } = session;
  const details: RedirectDetails = { ...flow, askedConfig: attempt.askedConfig, kept };
  await vault.ready(environmentUid);
  const body: CommandOf<AuthorizationEntity> = {
    type: 'Begin',
    id: attempt.id,
    environmentUid,
    hash: stateHash(vault, state),
    integrationKey: integration.uniqueKey,
    connectionId: attempt.connectionId,
    reconnectsUid: attempt.known?.uid ?? null,
    socketId: request.socketId,
    endUser,
    tags,
    webhookUrlOverride,
    actor: options.actor,
    details: vault.seal(
      environmentUid,
      details as unknown as JsonObject,
      detailsContext({ environmentUid, id: attempt.id }),
    ),
  };
  await control.execute(authorizationRef(environmentUid, attempt.id), body, options);
  return { url, state };
}

async function startingPoint(
  services: SealedEntities & { readonly settings: AddressSettings },
  { integration, known }: Attempt,
  options: ExecuteOptions,
): Promise<Pick<RedirectStartContext, 'publicUrl' | 'registeredClients' | 'refusedClientId'>> {
  const isRefused = known?.errors.some(({ type }) => type === 'auth') === true;
  const held = isRefused ? await openCredentials(services.vault, known) : {};
  return {
    publicUrl: services.settings.publicUrl,
    registeredClients: registeredClientsOf(services, integration, options),
    refusedClientId: textAt(held, 'config_override.client_id'),
  };
}

/** The value of the application for this connection, otherwise that of the integration. */
export function redirectScopes(config: JsonObject, ofIntegration = ''): readonly string[] {
  const override = config['oauth_scopes_override'];
  if (Array.isArray(override)) return override.filter((scope) => typeof scope === 'string');
  const isSet = typeof override === 'string' && override !== '';
  return (isSet ? override : ofIntegration).split(',');
}

/** The session's values have precedence over the browser's (docs/reference/http.md#sign-in-by-redirect). */
export function paramsOf({
  defaults,
}: Pick<Attempt, 'defaults'>): Readonly<Record<string, string>> {
  const { userScopes, authorizationParams } = defaults;
  return {
    ...(userScopes === undefined ? {} : { user_scope: userScopes }),
    ...authorizationParams,
  };
}

/** A state is as sensitive as a token until it expires: only its keyed hash is stored. */
export const stateHash = (vault: Vault, state: string): string =>
  vault.fingerprint('authorization-state', state);

export const detailsContext = ({
  environmentUid,
  id,
}: Pick<Authorization, 'environmentUid' | 'id'>): string =>
  sealingContext(environmentUid, id, 'authorization_details');
