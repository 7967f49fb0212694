import { randomUUID } from 'node:crypto';
import type { PublicMessage } from '../../control-plane/entity.ts';
import type { Services } from '../../http/services.ts';
import { catalogue, GatewayError } from '../../kernel/errors.ts';
import { joinKey, uuidV5, uuidV7 } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { connectionsOfIntegration } from '../connections/queries.ts';
import { openIntegrationCredentials, openMetadata } from '../credentials/sealing.ts';
import { webhookUrlOf } from '../integrations/presenter.ts';
import type { WebhookRules } from '../providers/webhook-rules.ts';
import { runsOf } from './dispatch.ts';
import {
  bodyContext,
  requestContext,
  type Disposition,
  type IncomingStep,
  type KeptRequest,
  type WebhookIn,
} from './events.ts';
import { forwardsOf } from './forward.ts';
import type { IncomingWebhook, Repeat } from './incoming-store.ts';
import { install } from './install.ts';
import { judge, type Verdict } from './judge.ts';
import type { Receiver } from './receiver.ts';
import type { Incoming } from './request.ts';

/** What taking a webhook needs. */
export type TakeDeps = Pick<
  Services,
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
  | 'records'
  | 'providers'
  | 'settings'
>;

/** A webhook that the log has. */
export interface Stored {
  readonly id: string;
  readonly receivedAt: number;
  readonly request: Incoming;
}

/** What came of it. */
export interface Taken {
  readonly disposition: Disposition;
  readonly verdict: Verdict;
}

const dayMs = 86_400_000;

/** Headers that are shown as they came: they hold nothing secret. */
const shownHeaders = new Set(['content-type', 'user-agent']);

/**
 * Keeps the request before anything is done with it; durable when it resolves.
 * @throws GatewayError `log_unavailable`, `log_full`
 */
export async function store(deps: TakeDeps, to: Receiver, request: Incoming): Promise<Stored> {
  const { vault, clock, publisher } = deps;
  const { uid } = to.environment;
  const receivedAt = clock.now();
  const id = uuidV7(receivedAt);
  await vault.ready(uid);
  const kept: KeptRequest = { headers: request.headers, search: request.search };
  const step = {
    ...quiet,
    delivery_id: id,
    disposition: 'received' as const,
    headers: shown(request.headers, to.rules),
    body: vault.sealBytes(uid, request.bytes, bodyContext(uid, id)),
    request: vault.sealBytes(uid, Buffer.from(JSON.stringify(kept)), requestContext(uid, id)),
    body_hash: hashOf(deps, request),
    received_at: receivedAt * 1000,
  };
  await publisher.publish([message(to, step)], 'system');
  return { id, receivedAt, request };
}

/**
 * Verifies a stored webhook, forwards it and starts what subscribes to it, and says in the log what came of it.
 * @throws GatewayError the rejection, which the log has as well
 */
export async function take(
  deps: TakeDeps,
  to: Receiver,
  stored: Stored,
  isAgain = false,
): Promise<Taken> {
  const logged = beginLog(deps, to, stored);
  let verdict: Verdict;
  try {
    const around = await surroundings(deps, to, stored);
    verdict = await judge(stored.request, around);
    if (verdict.installation !== null) {
      await install(deps, to, verdict.installation);
      // It is of the connection that has waited for it.
      verdict = await judge(stored.request, around);
    }
  } catch (error) {
    // What passes is no rejection: the webhook is judged again.
    if (!(error instanceof GatewayError) || 'isRetryable' in catalogue[error.code]) throw error;
    const { code: reason, status } = error;
    await decide(deps, to, stored, { disposition: 'rejected', reason, status });
    logged('failed', `Rejected: ${error.message}`);
    throw error;
  }
  const { environment, integration } = to;
  const of = { environmentUid: environment.uid, integrationKey: integration.uniqueKey };
  const repeat = repeatOf(deps, to, stored, verdict);
  const first = repeat === null || isAgain ? null : await firstOf(deps, stored, verdict, repeat);
  if (first !== null) {
    await decide(deps, to, stored, {
      ...saidOf(verdict),
      disposition: 'duplicate',
      reason: first.id,
    });
    return { disposition: 'duplicate', verdict };
  }
  const originId = originOf(to, stored, repeat);
  const forwards = await forwardsOf(deps, to, originId, verdict, stored.request.headers);
  if (forwards.length > 0) await deps.publisher.publish(forwards, 'system');
  const runs = runsOf(deps.control, of, originId, verdict.events);
  await Promise.all(
    runs.map(({ runId, ...run }) => deps.runs.queueWebhook({ ...run, actor: 'system' }, runId)),
  );
  const matched = verdict.connections.length > 0 || to.rules.connection === undefined;
  const disposition = isAgain ? 'reprocessed' : matched ? 'accepted' : 'unmatched';
  const runIds = runs.map(({ runId }) => runId);
  await decide(deps, to, stored, { ...saidOf(verdict), disposition, run_ids: runIds });
  if (disposition === 'unmatched') logged('success', 'The webhook is of no connection');
  else logged('success', `The webhook started ${runs.length} runs`);
  return { disposition, verdict };
}

/** The webhook as the log keeps it. @throws GatewayError `not_found` when the log or the key is gone */
export async function stored(
  { vault, incoming }: Pick<TakeDeps, 'vault' | 'incoming'>,
  webhook: IncomingWebhook,
): Promise<Stored> {
  const received = await incoming.received(webhook);
  const opened = received === null ? null : await openReceived(vault, received);
  if (opened !== null) return opened;
  const message = `The log does not hold the webhook ${webhook.id} any more.`;
  throw new GatewayError('not_found', { message });
}

/** The request that a message of the log holds; null when it holds none. @throws GatewayError `not_found`: the key is gone */
export async function openReceived(
  vault: TakeDeps['vault'],
  { environment_id: uid, delivery_id: id, received_at, body, request }: WebhookIn,
): Promise<Stored | null> {
  if (body === null || request === null) return null;
  await vault.ready(uid);
  const bytes = vault.openBytes(uid, body, bodyContext(uid, id));
  const kept = vault.openBytes(uid, request, requestContext(uid, id));
  const { headers, search } = JSON.parse(kept.toString()) as KeptRequest;
  return { id, receivedAt: received_at / 1000, request: { headers, search, bytes } };
}

async function surroundings(deps: TakeDeps, to: Receiver, { receivedAt }: Stored) {
  const { integration, rules } = to;
  const { control, vault, connectionFinder, providerKeys, providers, settings } = deps;
  const { environmentUid, uniqueKey: integrationKey } = integration;
  const of = { environmentUid, integrationKey };
  return {
    rules,
    credentials: await openIntegrationCredentials(vault, integration),
    // Of one that is judged again, the time at which it came in.
    now: Math.floor(receivedAt / 1000),
    address:
      webhookUrlOf(integration, providers.find(integration.provider), settings.publicUrl) ?? '',
    publicKeys: (url: string, isFresh: boolean) => providerKeys.at(url, isFresh),
    connections: (property: string, value: string) => connectionFinder.find(of, property, value),
    allConnections: () =>
      connectionsOfIntegration(control, environmentUid, integrationKey).filter(
        ({ isDeleting }) => !isDeleting,
      ),
    metadata: (connection: Parameters<typeof openMetadata>[1]) => openMetadata(vault, connection),
  };
}

/** What a repeat of the delivery has in common with it; null where no repeat can be told from another delivery. */
function repeatOf(
  deps: TakeDeps,
  { environment, integration }: Receiver,
  { request }: Stored,
  { providerDeliveryId, type, connections }: Verdict,
): Repeat | null {
  if (providerDeliveryId === null || connections.length === 0) return null;
  return {
    environmentUid: environment.uid,
    integrationKey: integration.uniqueKey,
    providerDeliveryId,
    type,
    connectionIds: idsOf(connections),
    bodyHash: hashOf(deps, request),
  };
}

/** The delivery that this one repeats; null = none. One to a connection since deleted is not repeated. */
async function firstOf(
  { incoming }: TakeDeps,
  { id, receivedAt }: Stored,
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
 * What the ids of its webhooks and runs are made of: the same when the provider repeats it before it has had an answer.
 * They hold the uid of the connection as well.
 */
function originOf({ integration }: Receiver, { id, receivedAt }: Stored, repeat: Repeat | null) {
  if (repeat === null) return id;
  const { providerDeliveryId, type, bodyHash } = repeat;
  const day = Math.floor(receivedAt / dayMs);
  const name = joinKey(providerDeliveryId, type ?? '', bodyHash, String(day));
  return uuidV5(integration.uid, name);
}

/** In one order, whatever the order in which they were found. */
const idsOf = (connections: Verdict['connections']): string[] =>
  connections.map(({ connectionId }) => connectionId).sort();

const quiet = {
  reason: null,
  status: null,
  provider_delivery_id: null,
  matched_connections: [],
  subscription: null,
  run_ids: [],
  headers: {},
  body: null,
  request: null,
} satisfies Partial<IncomingStep>;

const saidOf = (verdict: Verdict) => ({
  status: 200,
  provider_delivery_id: verdict.providerDeliveryId,
  matched_connections: idsOf(verdict.connections),
  subscription: verdict.type,
});

async function decide(
  deps: TakeDeps,
  to: Receiver,
  { id, receivedAt, request }: Stored,
  said: Partial<IncomingStep> & Pick<IncomingStep, 'disposition'>,
): Promise<void> {
  const about = {
    delivery_id: id,
    body_hash: hashOf(deps, request),
    received_at: receivedAt * 1000,
  };
  await deps.publisher.publish([message(to, { ...quiet, ...about, ...said })], 'system');
}

function message({ environment, integration }: Receiver, step: IncomingStep): PublicMessage {
  return {
    topic: 'svc.webhooks-in.v1',
    key: joinKey(environment.uid, integration.uniqueKey, '-'),
    type: `svc.webhook-in.${step.disposition}`,
    environmentUid: environment.uid,
    integration: integration.uniqueKey,
    value: { ...step },
  };
}

const hashOf = ({ vault }: TakeDeps, { bytes }: Incoming): string =>
  vault.fingerprint('webhook-body', bytes.toString('latin1'));

function shown(headers: Incoming['headers'], rules: WebhookRules): Record<string, string> {
  const named = [...(rules.type ?? []), ...(rules.delivery_id ?? [])].map(({ header }) => header);
  const names = new Set([...shownHeaders, ...named]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.has(name)));
}

/** One operation of the log that users read. */
function beginLog({ logs }: TakeDeps, { environment, integration }: Receiver, { id }: Stored) {
  const of = {
    operationId: randomUUID(),
    operationType: 'webhook:incoming',
    environmentUid: environment.uid,
    integration: integration.uniqueKey,
    connectionId: '',
  };
  const begin = performance.now();
  return (state: 'success' | 'failed', text: string): void => {
    const contextJson = JSON.stringify({ delivery: id });
    logs.note(of, { state, text, contextJson, tookMs: performance.now() - begin });
  };
}
