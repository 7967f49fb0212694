import { findCaughtUp, type ControlPlane } from '#control-plane/control-plane.ts';
import type { RouteAnswer } from '#http/define-route.ts';
import type { QueryValue } from '#http/query.ts';
import { GatewayError } from '#kernel/errors.ts';
import { Mask } from '#kernel/mask.ts';
import { isSecretName } from '#kernel/redact.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import { acceptCredentials } from '../connections/accept-credentials.ts';
import { findConnection } from '../connections/queries.ts';
import type { Connection } from '../connections/state.ts';
import { modeContext } from '../credentials/mode-context.ts';
import type { ObtainedCredentials, ModeContext } from '../credentials/modes/mode.ts';
import {
  ProviderAuthError,
  type ProviderAuthFailure,
} from '../credentials/modes/provider-auth-error.ts';
import {
  providerErrorOf,
  providerErrorText,
  type ProviderError,
} from '../credentials/modes/provider-error.ts';
import { refusalOf } from '../credentials/modes/refusal.ts';
import { authModeRules } from '../credentials/modes/registry.ts';
import { addressOf, tokenValues } from '../credentials/modes/token-request.ts';
import { openConnectionConfig, openCredentials } from '../credentials/sealing.ts';
import { secretsOfCredentials } from '../credentials/secrets.ts';
import { requireIntegration } from '../integrations/queries.ts';
import type { Provider } from '../providers/definition.ts';
import type { ConnectionsServices } from '../services.ts';
import type { Authorization, RedirectDetails } from './authorization.ts';
import { authorizationRef, authorizationEntity } from './entity.ts';
import { logged } from './log.ts';
import { showFailure, notifySuccess } from './notify-outcome.ts';
import { saveAuthorized } from './save.ts';
import { detailsContext, stateHash } from './start-redirect.ts';

interface Callback extends RedirectedBack {
  readonly cookies: string | undefined;
  /** Status for a `state` that has expired or was already used. */
  readonly unknownStatus: number;
}

const anonymous = { socketId: null, integrationKey: '', connectionId: '' };

export const cookieName = (state: string): string => `oauth2-${state}`;

/** Some providers return it under another name. */
export function stateOf(texts: Callback['texts']): string | undefined {
  const state = texts['state'] ?? texts['payload'] ?? texts['customField'];
  return state === '' ? undefined : state;
}

/** Whether the browser is the one that started. */
export const isSameBrowser = (cookies: string | undefined, state: string): boolean =>
  (cookies ?? '').split(/;\s*/).includes(`${cookieName(state)}=1`);

/** Handles the return of a user from the provider: the page for the browser. */
export async function answerCallback(
  services: ConnectionsServices,
  callback: Callback,
): Promise<RouteAnswer> {
  let found: Authorization;
  try {
    found = await taken(services, callback);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return showFailure(services, anonymous, error);
  }
  try {
    const connection = await logged(services, found, () =>
      finishRedirect(services, found, callback),
    );
    return await notifySuccess(services, found, connection);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // If a function refuses an existing connection, the auth error of the connection reports it.
    const isMarked = error.code === 'connection_validation_failed' && found.reconnectsUid !== null;
    if (!isMarked) await services.authorizationOutcomes.failed(found, error);
    return showFailure(services, found, error);
  }
}

/** @throws GatewayError `invalid_state`, `missing_state_cookie` */
async function taken(
  services: ConnectionsServices,
  { texts, cookies, unknownStatus: status }: Callback,
): Promise<Authorization> {
  const state = stateOf(texts);
  if (state === undefined) {
    throw new GatewayError('invalid_state', { message: 'The callback has no state.' });
  }
  const found = await findAuthorization(services, state);
  if (found === null) throw new GatewayError('invalid_state', { status });
  // Checked before the state is consumed: a callback from another browser must not block the user's own.
  if (!isSameBrowser(cookies, state)) throw new GatewayError('missing_state_cookie');
  try {
    await takeAuthorization(services, found);
  } catch (error) {
    const isTaken = error instanceof GatewayError && error.code === 'not_found';
    throw isTaken ? new GatewayError('invalid_state', { status }) : error;
  }
  return found;
}

/** The authorization of a state; null when there is none or it has expired. */
async function findAuthorization(
  { control, vault, clock }: SealedEntities & { readonly clock: Clock },
  state: string,
): Promise<Authorization | null> {
  const hash = stateHash(vault, state);
  const { view } = control;
  const found = await findCaughtUp(
    view,
    () => view.findBy(authorizationEntity, 'hash', hash)?.state ?? null,
  );
  return found === null || clock.now() >= found.expiresAt ? null : found;
}

/**
 * Consumes the authorization for this callback.
 * @throws GatewayError `not_found`: another callback was first
 */
async function takeAuthorization(
  { control }: { readonly control: ControlPlane },
  { environmentUid, id, actor }: Authorization,
): Promise<void> {
  await control.execute(authorizationRef(environmentUid, id), { type: 'Take' }, { actor });
}

/** The query of the redirect back. */
interface RedirectedBack {
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
async function finishRedirect(
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
  const readError = async () =>
    callbackErrorIn(texts, await maskOf(vault, { texts, kept, config, context, flow, existing }));
  const obtained = await traded(provider, services.settings.publicUrl, readError, () =>
    redirect.finish(texts, kept, { ...context, ...flow, scopes: [], state: '' }),
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

/** Names why the provider refused, and what to do about it. */
async function traded(
  provider: Provider,
  publicUrl: string,
  readError: () => Promise<ProviderError | null>,
  finish: () => Promise<ObtainedCredentials>,
): Promise<ObtainedCredentials> {
  try {
    return await finish();
  } catch (error) {
    if (!(error instanceof ProviderAuthError)) throw error;
    const failure = await failureInCallback(provider, error, readError);
    const refusal = refusalOf(failure, provider, publicUrl);
    const named = refusal === null ? failure : { ...failure, refusal };
    throw new ProviderAuthError(named, { cause: error });
  }
}

/** Callbacks without an authorization code cause no request to the provider: they may have its error instead. */
async function failureInCallback(
  { name }: Provider,
  { failure }: ProviderAuthError,
  readError: () => Promise<ProviderError | null>,
): Promise<ProviderAuthFailure> {
  const isEmpty = failure.providerStatus === null && failure.isDefinitive;
  if (!isEmpty) return failure;
  const code = 'invalid_callback';
  const providerError = await readError();
  if (providerError === null)
    return failure.code === 'invalid_credentials' ? { ...failure, code } : failure;
  const message = `The provider "${name}" ${providerErrorText(providerError)}`;
  return { ...failure, code, message, providerCode: providerError.code, providerError };
}

interface FlowSecrets {
  readonly texts: Readonly<Record<string, string>>;
  readonly kept: JsonObject;
  readonly config: JsonObject;
  readonly context: ModeContext;
  readonly flow: Pick<RedirectDetails, 'override'>;
  readonly existing: Connection | null;
}

/** Everything secret that the provider has seen, and that its error may repeat. */
async function maskOf(
  vault: Vault,
  { texts, kept, config, context, flow, existing }: FlowSecrets,
): Promise<Mask> {
  const stored = existing === null ? {} : await openCredentials(vault, existing);
  const client = (context.client ?? {}) as JsonObject;
  const settings = Object.entries(config).filter(([name]) => isSecretName(name));
  const { state = '', code = '' } = texts;
  const groups = [kept, stored, client, { ...flow.override }, Object.fromEntries(settings)];
  const secrets = groups.flatMap((group) => secretsOfCredentials(group));
  const mask = new Mask();
  for (const secret of [...secrets, state, code]) mask.add(secret);
  return mask;
}

/**
 * Refuses a callback that does not come from the authorization server the person was sent to (RFC 9207 section
 * 2.4): neither its code nor its error is that server's. Without an issuer in the definition there is nothing to
 * compare with, and `iss` is ignored.
 * @param iss of the callback; a list or an object where it came more than once
 * @throws GatewayError `invalid_callback`; `missing_api_url`: the template of the issuer cannot be filled in
 */
function checkIssuer(iss: QueryValue | undefined, context: ModeContext): void {
  const { provider } = context;
  const { authorization_issuer: template } = provider;
  if (template === undefined) return;
  const values = tokenValues(context, null);
  const expected = addressOf(provider, 'authorization_issuer', template, values);
  if (iss === expected) return;
  const message = `The issuer of the provider "${provider.name}" is ${expected}, and the callback names ${named(iss)}.`;
  throw new GatewayError('invalid_callback', { message });
}

/** The received value is shown only if it is an address, because the sender of the callback chose it. */
function named(iss: QueryValue | undefined): string {
  if (iss === undefined) return 'no issuer';
  if (typeof iss !== 'string') return 'several';
  return /^https?:\/\/[\w.:/~-]{1,200}$/.test(iss) ? iss : 'another';
}

type Texts = Readonly<Record<string, string>>;

/** RFC 6749 section 4.1.2.1; then the names of OAuth 1 problem reporting and of older providers. */
const codeNames = ['error', 'oauth_problem', 'error_code'];
const descriptionNames = ['error_description', 'oauth_problem_advice', 'error_message'];

/** The error that the provider returned in place of credentials; null if it returned none. */
export const callbackErrorIn = (texts: Texts, mask: Mask): ProviderError | null =>
  providerErrorOf(
    {
      code: firstOf(texts, codeNames),
      description: firstOf(texts, descriptionNames),
      uri: texts['error_uri'],
    },
    mask,
  );

function firstOf(texts: Texts, names: readonly string[]): string | null {
  const values = names.map((name) => (texts[name] ?? '').trim());
  return values.find((value) => value !== '') ?? null;
}
