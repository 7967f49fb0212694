import { randomUUID } from 'node:crypto';
import type { PublicMessage } from '#control-plane/entity.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import type { IdempotentCall } from '#http/define-route.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { uuidV5 } from '#kernel/ids.ts';
import type { Json } from '#kernel/stable-json.ts';
import type { Micros } from '#kernel/time.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { Deliveries } from './deliveries.ts';
import type { Delivery, DeliveryFilter, DeliveryPlace } from './delivery-store.ts';
import {
  addressContext,
  deliveryContext,
  headersContext,
  type DeliveryStep,
  type WebhookOut,
} from './events.ts';
import { deliveryMessage } from './outbox.ts';

interface Deps {
  readonly deliveries: Deliveries;
  readonly publisher: Publisher;
  readonly vault: Vault;
}

export interface Ordering {
  readonly actor: string;
  readonly idempotency?: IdempotentCall;
}

/** The result of a replay or of its dry run. */
export interface ReplayResult {
  readonly matched: number;
  /** Ids of the new messages; of a dry run those that would be repeated. At most 100. */
  readonly messageIds: readonly string[];
  readonly replayed: number;
  /** Ids of messages whose body the log has deleted. */
  readonly gone: number;
  /** More messages match: repeat from the time of the last. */
  readonly hasMore: boolean;
  readonly lastCreatedAt: Micros | null;
}

const pageMax = 200;
const shownMax = 100;

/**
 * The original body; null after the log has deleted it.
 * @throws GatewayError `not_found` (the key was destroyed)
 */
export async function bodyOf(
  { deliveries, vault }: { readonly deliveries: Deliveries; readonly vault: Vault },
  delivery: Delivery,
): Promise<Json> {
  const created = await deliveries.valueAt(delivery);
  if (created?.body == null) return null;
  const { environment_id: uid, message_id: id } = created;
  await vault.ready(uid);
  const bytes = vault.openBytes(uid, created.body, deliveryContext(uid, id));
  return parseRawJson(Buffer.from(bytes).toString()) as Json;
}

/**
 * Replays matching messages, oldest first: each is a new message that names the original, with the same body, and with
 * the same `webhook-id` on the wire.
 */
export async function replayMatching(
  deps: Deps,
  environmentUid: string,
  filter: DeliveryFilter,
  options: Ordering & { readonly isDryRun: boolean; readonly limit: number },
): Promise<ReplayResult> {
  const { tables } = deps.deliveries;
  await deps.deliveries.caughtUp();
  const messageIds: string[] = [];
  const counts = { matched: 0, replayed: 0, gone: 0 };
  let after: DeliveryPlace | undefined;
  for (;;) {
    const limit = Math.min(pageMax, options.limit - counts.matched);
    const page = limit === 0 ? [] : tables.oldest(environmentUid, filter, { after, limit });
    const last = page.at(-1);
    if (last === undefined) break;
    after = last;
    counts.matched += page.length;
    const made = options.isDryRun ? null : await repeat(deps, page, options);
    counts.replayed += made?.ids.length ?? 0;
    counts.gone += made?.gone ?? 0;
    const ids = made?.ids ?? page.map(({ messageId }) => messageId);
    messageIds.push(...ids.slice(0, shownMax - messageIds.length));
  }
  const rest = tables.oldest(environmentUid, filter, { after, limit: 1 });
  const lastCreatedAt = after?.createdAt ?? null;
  return { ...counts, messageIds, hasMore: rest.length > 0, lastCreatedAt };
}

/** Replays these messages. */
export async function repeat(
  { deliveries, publisher, vault }: Deps,
  candidates: readonly Delivery[],
  { actor, idempotency }: Ordering,
): Promise<{ readonly ids: string[]; readonly gone: number }> {
  const messages: PublicMessage[] = [];
  const ids: string[] = [];
  let gone = 0;
  // The same key yields the same message ids, which are then detected as duplicates.
  const key = idempotency?.idempotencyKey ?? randomUUID();
  for (const delivery of candidates) {
    const created = await deliveries.valueAt(delivery);
    if (created?.body == null) {
      gone += 1;
      continue;
    }
    const { messageId, endpointId, environmentUid } = delivery;
    const id = uuidV5(environmentUid, `replay/${key}/${messageId}/${endpointId}`);
    await vault.ready(environmentUid);
    messages.push(...repeatedMessages(vault, created, id));
    ids.push(id);
  }
  if (messages.length > 0) await publisher.publish(messages, actor);
  return { ids, gone };
}

function repeatedMessages(vault: Vault, created: WebhookOut, id: string): PublicMessage[] {
  const { environment_id: uid, message_id, endpoint_id, event_kind, run_id } = created;
  const again = (sealed: Uint8Array | null, contextOf: (uid: string, id: string) => string) =>
    sealed === null
      ? null
      : vault.sealBytes(
          uid,
          vault.openBytes(uid, sealed, contextOf(uid, message_id)),
          contextOf(uid, id),
        );
  const subject = {
    environmentUid: uid,
    connection: { integrationKey: created.integration ?? '', connectionId: created.connection_id },
    ...(run_id === null ? {} : { runId: run_id }),
  };
  const quiet = { attempt: 0, status: null, latency_ms: null, next_attempt_at: null };
  const step: Omit<DeliveryStep, 'message_id' | 'action' | 'replay_of'> = {
    ...quiet,
    endpoint_id,
    event_kind,
    error_code: null,
    body: null,
    address: null,
    headers: null,
  };
  return [
    deliveryMessage(subject, { ...step, message_id, action: 'replayed', replay_of: null }),
    deliveryMessage(subject, {
      ...step,
      message_id: id,
      action: 'created',
      body: again(created.body, deliveryContext),
      address: again(created.address, addressContext),
      headers: again(created.headers, headersContext),
      replay_of: created.replay_of ?? message_id,
    }),
  ];
}
