import type { ControlPlane } from '#control-plane/control-plane.ts';
import { connectionPathOf } from '#modules/connections/connections/entity.ts';
import type { Debounce } from '../../functions/function.ts';
import { webhookBatchRef } from '../../webhook-batches/entity.ts';
import type { BatchRun } from '../../webhook-batches/webhook-batch.ts';
import type { WebhookRequest } from './client.ts';
import type { PayloadStore } from './payload-store.ts';

/** Resolves with the id of the run that the webhook is joined to. */
export async function joinWebhook(
  deps: { readonly control: ControlPlane; readonly payloads: PayloadStore },
  { connection, fn, payload, actor }: WebhookRequest,
  debounce: Debounce,
  runId: string,
): Promise<string> {
  const { environmentUid, integrationKey, connectionId, uid: connectionUid } = connection;
  const json = JSON.stringify(payload);
  const { place } = await deps.payloads.put(
    { runId, environmentUid, connectionUid },
    'input',
    json,
  );
  const { name, models, version: functionVersion, concurrency } = fn;
  const run: BatchRun = {
    runId,
    kind: 'webhook',
    environmentUid,
    integrationKey,
    connectionId,
    connectionUid,
    name,
    models,
    functionVersion,
    isAsync: true,
    depth: 0,
    retriesLeft: 0,
    ...(concurrency === undefined ? {} : { concurrency }),
  };
  const batch = await deps.control.execute(
    webhookBatchRef(connectionPathOf(connection), name),
    { type: 'Join', run, input: { runId, place }, bytes: Buffer.byteLength(json), debounce },
    { actor, isViewAwaited: false, isDirect: true },
  );
  return batch?.run.runId ?? runId;
}
