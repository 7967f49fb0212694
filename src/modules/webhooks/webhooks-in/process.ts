import { randomUUID } from 'node:crypto';
import { isOutage, GatewayError } from '#kernel/errors.ts';
import { joinKey, uuidV5, uuidV7 } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { dayMs } from '#kernel/time.ts';
import { connectionsOfIntegration } from '#modules/connections/connections/queries.ts';
import {
  openIntegrationCredentials,
  openMetadata,
} from '#modules/connections/credentials/sealing.ts';
import { webhookUrlOf } from '#modules/connections/integrations/routes.ts';
import type { WebhooksServices } from '../services.ts';
import { runsOf } from './dispatch.ts';
import { evaluate, type Installation, type Verdict } from './evaluate.ts';
import { bodyContext, requestContext, type KeptRequest, type WebhookIn } from './events.ts';
import { forwardsOf } from './forward.ts';
import type { IncomingWebhook, Repeat } from './incoming-store.ts';
import { install } from './install.ts';
import type { Receiver } from './receiver.ts';
import type { ReceivedWebhook, IncomingRequest } from './request.ts';
import { bodyHash, outcomeMessage, publish, receivedMessage, rejectedMessage } from './steps.ts';
import { acceptUnverified, sizeOf, type UnverifiedDeps } from './unverified.ts';

/** The services for processing a webhook. */
export type ProcessDeps = Pick<
  WebhooksServices,
  | 'control'
  | 'vault'
  | 'publisher'
  | 'clock'
  | 'incoming'
  | 'connectionFinder'
  | 'providerKeys'
  | 'runs'
  | 'logs'
  | 'http'
  | 'connectionDependents'
  | 'lifecycle'
  | 'providers'
  | 'settings'
>;

/** Present when the provider waits for the response. */
export type IngressDeps = ProcessDeps & UnverifiedDeps;

/** A new request that is not in the log yet. */
export function arrivalOf(
  { clock }: Pick<ProcessDeps, 'clock'>,
  request: IncomingRequest,
): ReceivedWebhook {
  const receivedAt = clock.now();
  return { id: uuidV7(receivedAt), receivedAt, request };
}

/**
 * Verifies a new webhook. A rejected webhook is stored with the reason, within the limits for unverified senders; so is
 * one that cannot be evaluated now, which is evaluated later.
 * @throws GatewayError the rejection; `too_many_request`: it is not stored
 */
export async function verifyArrived(
  deps: IngressDeps,
  receiver: Receiver,
  webhook: ReceivedWebhook,
): Promise<Verdict> {
  try {
    return await evaluated(deps, receiver, webhook);
  } catch (error) {
    if (!isRejection(error)) {
      await acceptUnverified(deps, receiver, 'unknown', sizeOf(webhook.request));
      await publish(deps, await receivedMessage(deps, receiver, webhook));
      throw error;
    }
    const keepsBody = webhook.request.bytes.length <= limits.webhookRejectedBytesMax;
    await acceptUnverified(deps, receiver, 'unknown', keepsBody ? sizeOf(webhook.request) : 0);
    const logged = beginLog(deps, receiver, webhook);
    const received = await receivedMessage(deps, receiver, webhook, { keepsBody });
    await publish(deps, received, rejectedMessage(deps, receiver, webhook, error));
    logged('failed', `Rejected: ${error.message}`);
    throw error;
  }
}

/**
 * Stores an accepted webhook, then forwards it and starts the subscribed functions.
 * @throws GatewayError `too_many_request`: it is not verified, and the limit of these is reached; `log_unavailable`,
 *   `log_full`; the refusal of an installation
 */
export async function accept(
  deps: IngressDeps,
  receiver: Receiver,
  webhook: ReceivedWebhook,
  verdict: Verdict,
): Promise<void> {
  if (!verdict.isVerified) {
    const sender = verdict.connections.length > 0 ? 'unsigned' : 'unknown';
    await acceptUnverified(deps, receiver, sender, sizeOf(webhook.request));
  }
  await publish(deps, await receivedMessage(deps, receiver, webhook));
  await act(deps, receiver, webhook, verdict, false);
}

/**
 * Verifies a stored webhook, forwards it, starts the subscribed functions, and appends the outcome to the log. @throws
 * GatewayError the rejection, which is also in the log
 */
export async function processWebhook(
  deps: ProcessDeps,
  receiver: Receiver,
  stored: ReceivedWebhook,
  isAgain = false,
): Promise<void> {
  const verdict = await rejecting(deps, receiver, stored, () => evaluated(deps, receiver, stored));
  await act(deps, receiver, stored, verdict, isAgain);
}

const evaluated = async (
  deps: ProcessDeps,
  receiver: Receiver,
  stored: ReceivedWebhook,
): Promise<Verdict> => evaluate(stored.request, await surroundings(deps, receiver, stored));

/** A temporary error is not a rejection: the webhook is evaluated again. */
const isRejection = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && !isOutage(error);

/** Appends the rejection of a stored webhook to the log. */
async function rejecting<T>(
  deps: ProcessDeps,
  receiver: Receiver,
  stored: ReceivedWebhook,
  task: () => Promise<T>,
): Promise<T> {
  const logged = beginLog(deps, receiver, stored);
  try {
    return await task();
  } catch (error) {
    if (!isRejection(error)) throw error;
    await publish(deps, rejectedMessage(deps, receiver, stored, error));
    logged('failed', `Rejected: ${error.message}`);
    throw error;
  }
}

/** The event belongs to the connection that waited for it. */
const installed = (
  deps: ProcessDeps,
  receiver: Receiver,
  stored: ReceivedWebhook,
  installation: Installation,
) =>
  rejecting(deps, receiver, stored, async () => {
    await install(deps, receiver, installation);
    return evaluated(deps, receiver, stored);
  });

async function act(
  deps: ProcessDeps,
  receiver: Receiver,
  stored: ReceivedWebhook,
  found: Verdict,
  isAgain: boolean,
): Promise<void> {
  const { installation } = found;
  const verdict =
    installation === null ? found : await installed(deps, receiver, stored, installation);
  const logged = beginLog(deps, receiver, stored);
  const { environment, integration } = receiver;
  const scope = { environmentUid: environment.uid, integrationKey: integration.uniqueKey };
  const repeat = repeatOf(deps, receiver, stored, verdict);
  const first = repeat === null || isAgain ? null : await firstOf(deps, stored, verdict, repeat);
  if (first !== null) {
    const duplicate = { disposition: 'duplicate' as const, reason: first.id };
    await publish(
      deps,
      outcomeMessage(deps, receiver, stored, { ...saidOf(verdict), ...duplicate }),
    );
    return;
  }
  const originId = originOf(receiver, stored, repeat);
  const forwards = await forwardsOf(deps, receiver, originId, verdict, stored.request.headers);
  if (forwards.length > 0) await deps.publisher.publish(forwards, 'system');
  const runs = runsOf(deps.control, scope, originId, verdict.events);
  await Promise.all(
    runs.map(({ runId, ...run }) => deps.runs.queueWebhook({ ...run, actor: 'system' }, runId)),
  );
  const matched = verdict.connections.length > 0 || receiver.rules.connection === undefined;
  const disposition = isAgain ? 'reprocessed' : matched ? 'accepted' : 'unmatched';
  const runIds = runs.map(({ runId }) => runId);
  await publish(
    deps,
    outcomeMessage(deps, receiver, stored, { ...saidOf(verdict), disposition, run_ids: runIds }),
  );
  if (disposition === 'unmatched') logged('success', 'The webhook is of no connection');
  else logged('success', `The webhook started ${runs.length} runs`);
}

/**
 * The webhook from the log; null when its request is not stored.
 * @throws GatewayError `not_found`: the key was destroyed
 */
export async function stored(
  { vault, incoming }: Pick<ProcessDeps, 'vault' | 'incoming'>,
  webhook: IncomingWebhook,
): Promise<ReceivedWebhook | null> {
  const received = await incoming.valueAt(webhook);
  return received === null ? null : openReceived(vault, received);
}

/**
 * The request in a message of the log; null when it has none.
 * @throws GatewayError `not_found`: the key was destroyed
 */
export async function openReceived(
  vault: ProcessDeps['vault'],
  { environment_id: uid, delivery_id: id, received_at, body, request }: WebhookIn,
): Promise<ReceivedWebhook | null> {
  if (body === null || request === null) return null;
  await vault.ready(uid);
  const bytes = vault.openBytes(uid, body, bodyContext(uid, id));
  const kept = vault.openBytes(uid, request, requestContext(uid, id));
  const { headers, search } = JSON.parse(kept.toString()) as KeptRequest;
  return { id, receivedAt: received_at / 1000, request: { headers, search, bytes } };
}

async function surroundings(
  deps: ProcessDeps,
  receiver: Receiver,
  { receivedAt }: ReceivedWebhook,
) {
  const { integration, rules } = receiver;
  const { control, vault, connectionFinder, providerKeys, providers, settings } = deps;
  const { environmentUid, uniqueKey: integrationKey } = integration;
  const scope = { environmentUid, integrationKey };
  return {
    rules,
    credentials: await openIntegrationCredentials(vault, integration),
    // On a repeated evaluation: the time of arrival.
    now: Math.floor(receivedAt / 1000),
    address:
      webhookUrlOf(integration, providers.find(integration.provider), settings.publicUrl) ?? '',
    publicKeys: (url: string, isFresh: boolean) => providerKeys.at(url, isFresh),
    connections: (property: string, value: string) => connectionFinder.find(scope, property, value),
    allConnections: () =>
      connectionsOfIntegration(control, environmentUid, integrationKey).filter(
        ({ isDeleting }) => !isDeleting,
      ),
    metadata: (connection: Parameters<typeof openMetadata>[1]) => openMetadata(vault, connection),
  };
}

/** The key that identifies repeats of the delivery; null when repeats cannot be distinguished from other deliveries. */
function repeatOf(
  deps: ProcessDeps,
  { environment, integration }: Receiver,
  { request }: ReceivedWebhook,
  { providerDeliveryId, type, connections }: Verdict,
): Repeat | null {
  if (providerDeliveryId === null || connections.length === 0) return null;
  return {
    environmentUid: environment.uid,
    integrationKey: integration.uniqueKey,
    providerDeliveryId,
    type,
    connectionIds: idsOf(connections),
    bodyHash: bodyHash(deps, request),
  };
}

/** The delivery that this one repeats; null = none. A delivery for a deleted connection does not count. */
async function firstOf(
  { incoming }: ProcessDeps,
  { id, receivedAt }: ReceivedWebhook,
  { connections }: Verdict,
  repeat: Repeat,
): Promise<IncomingWebhook | null> {
  await incoming.caughtUp();
  const createdAt = connections.map((connection) => connection.createdAt);
  const since = Math.max(receivedAt - limits.webhookKnownMs, ...createdAt) * 1000;
  const first = incoming.tables.taken(repeat, since);
  return first?.id === id ? null : first;
}

/**
 * The seed of the ids of its webhooks and runs: the same when the provider repeats it before it gets a response. The
 * ids also contain the uid of the connection.
 */
function originOf(
  { integration }: Receiver,
  { id, receivedAt }: ReceivedWebhook,
  repeat: Repeat | null,
) {
  if (repeat === null) return id;
  const { providerDeliveryId, type, bodyHash: hash } = repeat;
  const day = Math.floor(receivedAt / dayMs);
  const name = joinKey(providerDeliveryId, type ?? '', hash, String(day));
  return uuidV5(integration.uid, name);
}

/** In a deterministic order. */
const idsOf = (connections: Verdict['connections']): string[] =>
  connections.map(({ connectionId }) => connectionId).sort();

const saidOf = (verdict: Verdict) => ({
  status: 200,
  provider_delivery_id: verdict.providerDeliveryId,
  matched_connections: idsOf(verdict.connections),
  subscription: verdict.type,
});

/** One operation of the log that users read. */
function beginLog(
  { logs }: ProcessDeps,
  { environment, integration }: Receiver,
  { id }: ReceivedWebhook,
) {
  const operation = {
    operationId: randomUUID(),
    operationType: 'webhook:incoming',
    environmentUid: environment.uid,
    integration: integration.uniqueKey,
    connectionId: '',
  };
  const begin = performance.now();
  return (state: 'success' | 'failed', text: string): void => {
    const contextJson = JSON.stringify({ delivery: id });
    logs.note(operation, { state, text, contextJson, tookMs: performance.now() - begin });
  };
}
