import { parseRawJson } from '#kernel/exact-json.ts';
import { uuidV5 } from '#kernel/ids.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { isoMillis } from '#kernel/time.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import { findFunction } from '#modules/functions/functions/queries.ts';
import { isEnd, type RunChanged, millis } from '#modules/functions/runs/ledger/events.ts';
import type { RecordReader } from '#modules/records/read/reader.ts';
import type { WebhookKind } from './events.ts';
import { deliveriesOf, endpointsOf, type Payload } from './outbox.ts';
import { startWebhookSource, subjectOf, type WebhookSourceDeps } from './webhook-source.ts';

interface SyncWebhookDeps extends WebhookSourceDeps {
  readonly reader: Pick<RecordReader, 'published'>;
}

/**
 * Creates the webhooks of finished runs: consumer group `svc.sync-webhooks`. Those of a sync are created after the
 * projector has published all of its changes, so that an application finds the records when it gets the webhook.
 */
export const startSyncWebhooks = (deps: SyncWebhookDeps): Promise<AsyncDisposable> =>
  startWebhookSource<RunChanged>(deps, {
    group: 'svc.sync-webhooks',
    topic: 'svc.runs.v1',
    inFlightMax: 2_000,
    async webhooksOf(end, signal) {
      const { control, reader } = deps;
      const webhook = isEnd(end.action) ? runWebhooks.find(({ isOf }) => isOf(end)) : undefined;
      const subject = webhook === undefined ? null : await subjectOf(deps, end);
      if (webhook === undefined || subject === null) return null;
      const { kind } = webhook;
      const { environment, connection } = subject;
      if (endpointsOf(control, environment, kind, connection).length === 0) return null;
      const { environmentUid, integrationKey } = connection;
      const fn = findFunction(control, environmentUid, integrationKey, 'sync', end.function);
      const hasCheckpoints = fn?.features.includes('checkpoints') ?? false;
      const payloads = webhook.payloadsOf(end, environment.webhookFlags, hasCheckpoints);
      if (payloads.length === 0) return null;
      await Promise.all(
        end.positions.map(({ partition, offset }) => reader.published(partition, offset, signal)),
      );
      const runId = end.run_id ?? '';
      const messages = await deliveriesOf(deps, { environment, connection, kind, runId }, payloads);
      return { messages, actor: `run:${runId}` };
    },
  });

/** Of a run. */
type RunPayload = Payload & { readonly payload: JsonObject };

type Flags = Environment['webhookFlags'];

/**
 * The webhooks for the end of a run of a sync, or of its `onWebhook` (docs/reference/webhooks-out.md#sync): one per
 * model on success, one in total on failure, none for a cancelled run. `hasCheckpoints`: the function declares one.
 */
export function syncPayloads(end: RunChanged, flags: Flags, hasCheckpoints: boolean): RunPayload[] {
  if (end.action === 'cancelled') return [];
  const runId = end.run_id ?? '';
  if (end.action !== 'succeeded') {
    if (!flags.onSyncError) return [];
    const model = end.models.join(',');
    const payload = { ...commonParts(end, model, hasCheckpoints), ...failureParts(end) };
    return [{ messageId: uuidV5(runId, model), payload }];
  }
  return end.models.flatMap((model) => {
    const {
      added = 0,
      updated = 0,
      deleted = 0,
    } = end.counts.find((count) => count.model === model) ?? {};
    if (added + updated + deleted === 0 && !flags.onSyncCompletionAlways) return [];
    const startedAt = startOf(end);
    const payload = {
      ...commonParts(end, model, hasCheckpoints),
      success: true,
      modifiedAfter: startedAt,
      queryTimeStamp: startedAt,
      responseResults: { added, updated, deleted },
    };
    return [{ messageId: uuidV5(runId, model), payload }];
  });
}

/** The webhook of an asynchronous action's last attempt. */
export function asyncActionPayloads(end: RunChanged, flags: Flags): RunPayload[] {
  if (!flags.onAsyncActionCompletion) return [];
  const id = end.run_id ?? '';
  const payload = {
    type: 'async_action',
    from: 'svc',
    connectionId: end.connection_id,
    providerConfigKey: end.integration,
    payload: { id, statusUrl: `/action/${id}` },
  };
  return [{ messageId: uuidV5(id, 'async_action'), payload }];
}

interface RunWebhook {
  readonly kind: WebhookKind;
  readonly isOf: (end: RunChanged) => boolean;
  readonly payloadsOf: (end: RunChanged, flags: Flags, hasCheckpoints: boolean) => RunPayload[];
}

/** The kinds of webhooks of ended runs; a run has one of them at most. */
const runWebhooks: readonly RunWebhook[] = [
  {
    kind: 'sync',
    isOf: ({ kind }) => kind === 'sync' || kind === 'webhook',
    payloadsOf: syncPayloads,
  },
  {
    kind: 'async_action',
    isOf: ({ kind, trigger }) => kind === 'action' && trigger === 'async',
    payloadsOf: asyncActionPayloads,
  },
];

function commonParts(end: RunChanged, model: string, hasCheckpoints: boolean): JsonObject {
  const from = parsed(end.checkpoint_from);
  const json = parsed(end.checkpoint_to);
  // `onWebhook` runs have progress of their own.
  const isShown = end.kind === 'sync' && (hasCheckpoints || from !== null || json !== null);
  return {
    type: 'sync',
    from: 'svc',
    connectionId: end.connection_id,
    providerConfigKey: end.integration,
    syncName: end.function,
    syncVariant: end.variant,
    syncType: end.kind === 'webhook' ? 'WEBHOOK' : end.is_initial ? 'INITIAL' : 'INCREMENTAL',
    model,
    ...(isShown ? { checkpoints: { from, to: json } } : {}),
  };
}

function failureParts(end: RunChanged): JsonObject {
  return {
    success: false,
    error: { type: 'script_error', description: end.error_message ?? 'The sync failed.' },
    startedAt: startOf(end),
    failedAt: isoMillis(millis(end.occurred_at)),
  };
}

const startOf = (end: RunChanged): string => isoMillis(millis(end.started_at ?? end.occurred_at));
const parsed = (json: string | null): Json => (json === null ? null : (parseRawJson(json) as Json));
