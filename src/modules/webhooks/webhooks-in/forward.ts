import type { PublicMessage } from '#control-plane/entity.ts';
import { uuidV5 } from '#kernel/ids.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import type { Integration } from '#modules/connections/integrations/integration.ts';
import type { WebhooksServices } from '../services.ts';
import { deliveriesOf } from '../webhooks-out/outbox.ts';
import type { Verdict } from './evaluate.ts';
import { forwardedHeaders } from './headers.ts';

/**
 * The webhook for the application: one per connection, or one unchanged. The ids are derived from the delivery's, so
 * that a repetition is detected.
 */
export async function forwardsOf(
  deps: Pick<WebhooksServices, 'control' | 'vault'>,
  scope: { readonly environment: Environment; readonly integration: Integration },
  originId: string,
  verdict: Verdict,
  headers: Readonly<Record<string, string>>,
): Promise<PublicMessage[]> {
  const { environment, integration } = scope;
  if (!integration.forwardWebhooks || !verdict.isForwarded) return [];
  const { uniqueKey: integrationKey, provider } = integration;
  const along = forwardedHeaders(headers);
  const send = (
    connection: Parameters<typeof deliveriesOf>[1]['connection'],
    connectionUid: string,
    payload: object,
  ) => {
    const messageId = uuidV5(originId, `forward/${connectionUid}`);
    const wanted = { environment, connection, kind: 'forward' } as const;
    return deliveriesOf(deps, wanted, [{ messageId, payload: payload as never, headers: along }]);
  };
  if (verdict.connections.length === 0) {
    const anonymous = { integrationKey, connectionId: null, webhookUrlOverride: null };
    return send(anonymous, '', verdict.body as never);
  }
  const made = await Promise.all(
    verdict.connections.map((connection) =>
      send(connection, connection.uid, {
        type: 'forward',
        from: provider,
        connectionId: connection.connectionId,
        providerConfigKey: integrationKey,
        payload: verdict.body,
      }),
    ),
  );
  return made.flat();
}
