import { randomUUID } from 'node:crypto';
import type { GatewayError } from '#kernel/errors.ts';
import { uuidV5 } from '#kernel/ids.ts';
import { dayMs } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import { openUrl, urlOfConnection, urlOfSession } from '#modules/access/vault/webhook-urls.ts';
import type {
  AuthorizationOutcomes,
  FailedAuthorization,
} from '#modules/connections/authorizations/outcomes.ts';
import { findConnection } from '#modules/connections/connections/queries.ts';
import {
  ProviderAuthError,
  type CallbackError,
} from '#modules/connections/credentials/modes/provider-auth-error.ts';
import { findIntegration } from '#modules/connections/integrations/queries.ts';
import type { CredentialsChanged } from '#streams/values.ts';
import type { WebhooksServices } from '../services.ts';
import { authEventOf, authPayload, isAuthWanted } from './auth-payload.ts';
import { deliveriesOf } from './outbox.ts';
import { startWebhookSource, subjectOf, type WebhookSourceDeps } from './webhook-source.ts';

/**
 * Sends webhooks for created and reauthorized connections, failed refreshes, and the first success after a failure:
 * consumer group `svc.auth-webhooks`.
 */
export const startAuthWebhooks = (deps: WebhookSourceDeps): Promise<AsyncDisposable> =>
  startWebhookSource<CredentialsChanged>(deps, {
    group: 'svc.auth-webhooks',
    topic: 'svc.credentials.v1',
    maxAgeMs: dayMs,
    async webhooksOf(change) {
      const event = authEventOf(change);
      const subject = event === null ? null : await subjectOf(deps, change);
      if (event === null || subject === null) return null;
      const { environment, connection } = subject;
      if (!isAuthWanted(event, environment.webhookFlags)) return null;
      const payload = authPayload(event, environment, connection);
      const messageId = uuidV5(change.event_id, 'auth');
      const messages = await deliveriesOf(deps, { environment, connection, kind: 'auth' }, [
        { messageId, payload },
      ]);
      return { messages, actor: 'system' };
    },
  });

type Deps = Pick<WebhooksServices, 'control' | 'providers' | 'vault' | 'publisher' | 'logger'>;

/**
 * Notifies the application of authorizations that ended without a connection (docs/reference/webhooks-out.md#auth). The
 * response to the user does not depend on it.
 */
export const announceAuthorizations = (deps: Deps): AuthorizationOutcomes => ({
  failed: (authorization, error) => announceFailure(deps, authorization, error),
});

/** The cause is kept by `logged` of the authorization. */
function callbackErrorOf({ cause }: GatewayError): { readonly provider?: CallbackError } {
  const found = cause instanceof ProviderAuthError ? cause.failure.callbackError : undefined;
  return found === undefined ? {} : { provider: found };
}

async function announceFailure(
  deps: Deps,
  {
    environmentUid,
    integrationKey,
    connectionId,
    reconnectsUid,
    endUser,
    ...ref
  }: FailedAuthorization,
  failure: GatewayError,
): Promise<void> {
  const { control, providers, vault, publisher, logger } = deps;
  const environment = control.view.find(environmentRef(environmentUid));
  if (environment === null) return;
  const operation = reconnectsUid === null ? 'creation' : 'override';
  const { code: type, message: description } = failure;
  const event = { operation, error: { type, description, ...callbackErrorOf(failure) } } as const;
  if (!isAuthWanted(event, environment.webhookFlags)) return;
  const integration = findIntegration(control, environmentUid, integrationKey);
  const provider = integration === null ? null : providers.find(integration.provider);
  const existing = findConnection(control, environmentUid, integrationKey, connectionId);
  const named = {
    integrationKey,
    connectionId,
    endUser,
    provider: provider?.name ?? 'unknown',
    authMode: provider?.auth_mode ?? 'unknown',
    webhookUrlOverride: ref.webhookUrlOverride ?? existing?.webhookUrlOverride ?? null,
  };
  const payload = authPayload(event, environment, named);
  try {
    const ofSession = await openUrl(vault, urlOfSession(environmentUid), ref.webhookUrlOverride);
    const address =
      ofSession ??
      (existing && (await openUrl(vault, urlOfConnection(existing), existing.webhookUrlOverride)));
    const messages = await deliveriesOf(
      { control, vault },
      { environment, connection: named, address, kind: 'auth' },
      [{ messageId: randomUUID(), payload }],
    );
    if (messages.length > 0) await publisher.publish(messages, 'system');
  } catch (err) {
    logger.warn({ err, environmentUid }, 'a failed authorization was not announced');
  }
}
