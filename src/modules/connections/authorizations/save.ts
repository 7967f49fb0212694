import type { RequestOptions } from '#http/options.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { openUrl, urlOfSession } from '#modules/access/vault/webhook-urls.ts';
import { connectValidated, type ConnectDeps } from '../connections/lifecycle.ts';
import type { Connection } from '../connections/state.ts';
import type { ObtainedCredentials } from '../credentials/modes/mode.ts';
import { openConnectionConfig } from '../credentials/sealing.ts';
import type { Provider } from '../providers/definition.ts';
import { withoutEmpty } from './attempt.ts';
import type { Authorization } from './authorization.ts';

/** The owner of the connection. */
type ConnectionOwner = Pick<
  Authorization,
  'environmentUid' | 'integrationKey' | 'connectionId' | 'endUser' | 'tags' | 'webhookUrlOverride'
>;

/**
 * Creates the connection, or stores new credentials in the existing one. Metadata is unchanged; profile fields that the
 * session omits are unchanged, too.
 * @throws GatewayError `invalid_connection`: the existing one was deleted; `connection_validation_failed`
 */
export async function saveAuthorized(
  services: ConnectDeps,
  target: ConnectionOwner & { readonly provider: Provider; readonly known: Connection | null },
  outcome: { readonly obtained: ObtainedCredentials; readonly askedConfig: JsonObject },
  options: RequestOptions,
): Promise<Connection> {
  const { provider, known, tags, endUser, webhookUrlOverride, ...name } = target;
  const { obtained, askedConfig } = outcome;
  const stored = known === null ? {} : await openConnectionConfig(services.vault, known);
  const url = await openUrl(services.vault, urlOfSession(name.environmentUid), webhookUrlOverride);
  const hasTags = known === null || Object.keys(tags).length > 0;
  return connectValidated(
    services,
    {
      environmentUid: name.environmentUid,
      integrationKey: name.integrationKey,
      connectionId: name.connectionId,
      reconnects: known?.uid,
      provider,
      credentials: obtained,
      connectionConfig: { ...stored, ...obtained.connectionConfig, ...withoutEmpty(askedConfig) },
      endUser: endUser ?? undefined,
      tags: hasTags ? tags : undefined,
      webhookUrlOverride: url ?? undefined,
    },
    options,
  );
}
