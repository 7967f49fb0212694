import { z } from 'zod';
import type { Caller } from '#http/define-route.ts';
import { connectionId, integrationKey } from '#http/fields.ts';
import type { ConnectionUid, EnvironmentUid } from '#kernel/ids.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import { baseVariant, type Stream } from '../model/stream.ts';
import type { RecordsServices } from '../services.ts';

/** Both name the connection on the routes of its records. */
export const connectionHeaders = z.object({
  'connection-id': connectionId,
  'provider-config-key': integrationKey,
});

/** @throws GatewayError `unknown_connection` (400 here, docs/reference/errors.md#codes-with-other-statuses) */
export async function streamOf(
  { control }: RecordsServices,
  { environmentUid }: Caller,
  sent: z.output<typeof connectionHeaders>,
  { model, variant }: { readonly model: string; readonly variant?: string | undefined },
): Promise<Stream> {
  const connection = await requireConnection(
    control,
    environmentUid,
    sent['provider-config-key'],
    sent['connection-id'],
    { status: 400, integrationCode: 'unknown_connection' },
  );
  return {
    // Uids come from the key and the view, so that they are valid.
    environmentUid: environmentUid as EnvironmentUid,
    connectionUid: connection.uid as ConnectionUid,
    integration: connection.integrationKey as Stream['integration'],
    connectionId: connection.connectionId as Stream['connectionId'],
    model,
    variant: variant ?? baseVariant,
  };
}
