import { findCaughtUp } from '../../../control-plane/control-plane.ts';
import type { QueryValue } from '../../../http/query.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import { acceptCredentials } from '../connections/accept-credentials.ts';
import { findConnection } from '../connections/queries.ts';
import type { Connection } from '../connections/state.ts';
import { modeContext } from '../credentials/mode-context.ts';
import type { Obtained } from '../credentials/modes/mode.ts';
import { ProviderAuthError } from '../credentials/modes/provider-auth-error.ts';
import { authModeRules } from '../credentials/modes/registry.ts';
import { openConnectionConfig } from '../credentials/sealing.ts';
import { requireIntegration } from '../integrations/queries.ts';
import { authorizationRef } from './entity.ts';
import { checkIssuer } from './issuer.ts';
import { saveAuthorized } from './save.ts';
import { detailsContext, stateHash } from './start-redirect.ts';
import type { Authorization, RedirectDetails } from './state.ts';
import type { ConnectionsServices } from '../services.ts';

/** The authorization of a state; null when there is none or it has expired. */
export async function findAuthorization(
  { control, vault, clock }: Pick<ConnectionsServices, 'control' | 'vault' | 'clock'>,
  state: string,
): Promise<Authorization | null> {
  const hash = stateHash(vault, state);
  const { view } = control;
  const found = await findCaughtUp(
    view,
    () => view.findBy<Authorization>('authorization', 'hash', hash)?.state ?? null,
  );
  return found === null || clock.now() >= found.expiresAt ? null : found;
}

/**
 * Consumes the authorization for this callback.
 * @throws GatewayError `not_found`: another callback was first
 */
export async function takeAuthorization(
  { control }: Pick<ConnectionsServices, 'control'>,
  { environmentUid, id, actor }: Authorization,
): Promise<void> {
  await control.execute(authorizationRef(environmentUid, id), { type: 'Take' }, { actor });
}

/** The query of the redirect back. */
export interface RedirectedBack {
  /** Each name once. */
  readonly texts: Readonly<Record<string, string>>;
  /** Unchanged: the parameter may occur only once. */
  readonly iss: QueryValue | undefined;
}

/**
 * Exchanges the response of the provider for credentials and stores them.
 * @throws ProviderAuthError; GatewayError `unknown_provider_config`, `unknown_provider_template`, `invalid_connection`,
 *   `invalid_callback`, `missing_api_url`, `connection_test_failed`
 */
export async function finishRedirect(
  services: ConnectionsServices,
  taken: Authorization,
  { texts, iss }: RedirectedBack,
): Promise<Connection> {
  const { control, vault, providers } = services;
  const { environmentUid, integrationKey, connectionId, reconnectsUid } = taken;
  const integration = await requireIntegration(control, environmentUid, integrationKey, {
    code: 'unknown_provider_config',
  });
  const provider = providers.find(integration.provider);
  if (provider === null) throw new GatewayError('unknown_provider_template');
  const { redirect } = authModeRules[provider.auth_mode];
  if (redirect === null) throw new GatewayError('invalid_auth_mode');
  const existing =
    reconnectsUid === null
      ? null
      : findConnection(control, environmentUid, integrationKey, connectionId);
  if (reconnectsUid !== null && existing?.uid !== reconnectsUid) {
    throw new GatewayError('invalid_connection');
  }
  await vault.ready(environmentUid);
  // It was sealed from this type.
  const opened: unknown = vault.open(environmentUid, taken.details, detailsContext(taken));
  const { kept, askedConfig, ...flow } = opened as RedirectDetails;
  const stored = existing === null ? {} : await openConnectionConfig(vault, existing);
  const config = { ...stored, ...askedConfig };
  const context = await modeContext(services, integration, provider, config);
  checkIssuer(iss, context);
  // The state is checked: no mode reads it again.
  const obtained = await traded(() =>
    redirect.finish(texts, kept, { ...context, ...flow, state: '' }),
  );
  const accepted = await acceptCredentials(services, {
    integration,
    context,
    credentials: obtained,
  });
  return saveAuthorized(
    services,
    { ...taken, provider, known: existing },
    { obtained: accepted, askedConfig },
    { actor: taken.actor },
  );
}

/** Callbacks without an authorization code cause no request to the provider. */
async function traded(finish: () => Promise<Obtained>): Promise<Obtained> {
  try {
    return await finish();
  } catch (error) {
    if (!(error instanceof ProviderAuthError)) throw error;
    const { code, providerStatus, isDefinitive } = error.failure;
    const isEmpty = code === 'invalid_credentials' && providerStatus === null && isDefinitive;
    if (!isEmpty) throw error;
    throw new ProviderAuthError({ ...error.failure, code: 'invalid_callback' }, { cause: error });
  }
}
