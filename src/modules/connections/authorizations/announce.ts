import { randomUUID } from 'node:crypto';
import type { Services } from '../../../http/services.ts';
import type { GatewayError } from '../../../kernel/errors.ts';
import { findConnection } from '../connections/queries.ts';
import { openUrl, urlOfConnection, urlOfSession } from '../credentials/webhook-urls.ts';
import type { Environment } from '../../access/environments/state.ts';
import { findIntegration } from '../integrations/queries.ts';
import { authPayload, isAuthWanted } from '../../webhooks/webhooks-out/auth-payload.ts';
import { deliveriesOf } from '../../webhooks/webhooks-out/outbox.ts';
import type { Authorization } from './state.ts';

type Deps = Pick<Services, 'control' | 'providers' | 'vault' | 'publisher' | 'logger'>;
type Failed = Pick<
  Authorization,
  | 'environmentUid'
  | 'integrationKey'
  | 'connectionId'
  | 'reconnectsUid'
  | 'endUser'
  | 'webhookUrlOverride'
>;

/**
 * Tells the application that a person came back from the provider, and no connection came of it
 * (docs/reference/webhooks-out.md#auth). The answer to the person does not depend on it.
 */
export async function announceFailure(
  deps: Deps,
  { environmentUid, integrationKey, connectionId, reconnectsUid, endUser, ...ref }: Failed,
  { code, message }: GatewayError,
): Promise<void> {
  const { control, providers, vault, publisher, logger } = deps;
  const environment = control.view.find<Environment>('environment', [environmentUid]);
  if (environment === null) return;
  const operation = reconnectsUid === null ? 'creation' : 'override';
  const event = { operation, error: { type: code, description: message } } as const;
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
