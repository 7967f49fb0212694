import { uuidV5 } from '#kernel/ids.ts';
import { dayMs } from '#kernel/time.ts';
import type { CredentialsChanged } from '#streams/values.ts';
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
