import { randomUUID } from 'node:crypto';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { PublicMessage } from '#control-plane/entity.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { counted } from '#kernel/counted.ts';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey, uuidV5 } from '#kernel/ids.ts';
import { textAt } from '#kernel/json-path.ts';
import { limits } from '#kernel/limits.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { dayMs } from '#kernel/time.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { saveAuthorized } from '#modules/connections/authorizations/save.ts';
import { connectionPathOf } from '#modules/connections/connections/entity.ts';
import type { ConnectDeps } from '#modules/connections/connections/lifecycle.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { modeContext } from '#modules/connections/credentials/mode-context.ts';
import { completed } from '#modules/connections/credentials/modes/custom.ts';
import type { ModeContext } from '#modules/connections/credentials/modes/mode.ts';
import { ProviderAuthError } from '#modules/connections/credentials/modes/provider-auth-error.ts';
import { openConnectionConfig, openCredentials } from '#modules/connections/credentials/sealing.ts';
import type { Integration } from '#modules/connections/integrations/integration.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import { withDefaults } from '#modules/connections/providers/field-check.ts';
import type { DeployedFunction } from '#modules/functions/functions/function.ts';
import { listFunctions } from '#modules/functions/functions/queries.ts';
import type { RunsClient } from '#modules/functions/runs/invocation/client.ts';
import { syncRef } from '#modules/functions/syncs/entity.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { OperationLogs } from '#ports/operation-log.ts';
import { deliveriesOf } from '../webhooks-out/outbox.ts';
import type { IncomingStep } from './events.ts';
import { forwardedHeaders, type ReceivedWebhook } from './facts.ts';
import type { ConnectionFinder } from './find-connections.ts';
import type { IncomingWebhook, Repeat, IncomingWebhooks } from './incoming-store.ts';
import { bodyHash, outcomeMessage, publish } from './messages.ts';
import type { Receiver } from './receiver.ts';
import type { ProviderEvent, Verdict, Installation } from './verdict.ts';

export interface EffectDeps extends SealedEntities {
  readonly publisher: Publisher;
  readonly incoming: IncomingWebhooks;
  readonly runs: RunsClient;
  readonly logs: OperationLogs;
}

/** Forwards a stored webhook, starts the subscribed functions, and publishes the outcome. A repeat has no effect. */
export async function applyVerdict(
  deps: EffectDeps,
  receiver: Receiver,
  stored: ReceivedWebhook,
  verdict: Verdict,
  isAgain: boolean,
): Promise<void> {
  const logged = beginLog(deps, receiver, stored);
  const conclude = (outcome: Partial<IncomingStep> & Pick<IncomingStep, 'disposition'>) =>
    publish(deps, outcomeMessage(deps, receiver, stored, { ...outcomeOf(verdict), ...outcome }));
  const repeat = repeatOf(deps, receiver, stored, verdict);
  const first = repeat === null || isAgain ? null : await firstOf(deps, stored, verdict, repeat);
  if (first !== null) {
    await conclude({ disposition: 'duplicate', reason: first.id });
    return;
  }
  const originId = originOf(receiver, stored, repeat);
  const forwards = await forwardsOf(deps, receiver, originId, verdict, stored.request.headers);
  if (forwards.length > 0) await deps.publisher.publish(forwards, 'system');
  const runs = runsOf(deps.control, receiver.integration, originId, verdict.events);
  const queued = await Promise.all(
    runs.map(({ runId, ...run }) => deps.runs.queueWebhook({ ...run, actor: 'system' }, runId)),
  );
  const runIds = [...new Set(queued)];
  const disposition = isAgain ? 'reprocessed' : verdict.isMatched ? 'accepted' : 'unmatched';
  await conclude({ disposition, run_ids: runIds });
  if (disposition === 'unmatched') logged('success', 'The webhook is of no connection');
  else logged('success', `The webhook is in ${counted(runIds.length, 'run')}`);
}

/** The key that identifies repeats of the delivery; null when repeats cannot be distinguished from other deliveries. */
function repeatOf(
  deps: EffectDeps,
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
  { incoming }: EffectDeps,
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

const outcomeOf = (verdict: Verdict) => ({
  status: 200,
  provider_delivery_id: verdict.providerDeliveryId,
  matched_connections: idsOf(verdict.connections),
  subscription: verdict.type,
});

/** One operation of the log that users read. */
export function beginLog(
  { logs }: EffectDeps,
  { environment, integration }: Receiver,
  { id }: ReceivedWebhook,
) {
  const operation = {
    operationId: randomUUID(),
    operationType: 'webhook:incoming' as const,
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

/**
 * The webhook for the application: one per connection, or one unchanged. The ids are derived from the delivery's, so
 * that a repetition is detected.
 */
async function forwardsOf(
  deps: SealedEntities,
  { environment, integration }: Receiver,
  originId: string,
  verdict: Verdict,
  headers: Readonly<Record<string, string>>,
): Promise<PublicMessage[]> {
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

/** A run of `onWebhook` that an event starts. */
export interface SubscribedRun {
  readonly runId: string;
  readonly connection: Connection;
  readonly fn: DeployedFunction;
  readonly payload: Json;
}

/**
 * The runs of the events: of each connection those of the enabled syncs that are not paused and subscribe to the type,
 * or to `*`. Their ids are derived from the delivery's, so that a repetition starts them once.
 */
export function runsOf(
  control: ControlPlane,
  { environmentUid, uniqueKey: integrationKey }: Pick<Integration, 'environmentUid' | 'uniqueKey'>,
  originId: string,
  events: readonly ProviderEvent[],
): SubscribedRun[] {
  const { view } = control;
  const syncs = listFunctions(control, environmentUid, { integrationKey, kind: 'sync' });
  const subscribed = syncs.filter((fn) => fn.isEnabled && fn.webhookSubscriptions.length > 0);
  return events.flatMap(({ type, body, connections }, number) =>
    connections.flatMap((connection) =>
      subscribed
        .filter((fn) => subscribes(fn, type) && !isPaused(view, connection, fn.name))
        .map((fn) => {
          const runId = uuidV5(originId, `${connection.uid}/${fn.name}/${number}`);
          return { runId, connection, fn, payload: body };
        }),
    ),
  );
}

const subscribes = (
  { webhookSubscriptions: subscriptions }: DeployedFunction,
  type: string | null,
): boolean => subscriptions.includes('*') || (type !== null && subscriptions.includes(type));

function isPaused(view: ControlPlane['view'], connection: Connection, name: string): boolean {
  return view.find(syncRef(connectionPathOf(connection), name, 'base'))?.state === 'paused';
}

interface Deps extends ConnectDeps {
  readonly connectionFinder: ConnectionFinder;
  readonly http: HttpClient;
  readonly providers: ProviderCatalogue;
}

/**
 * Completes the connection that waits for the installation (docs/reference/webhooks-in.md#installations). A complete
 * connection stays unchanged: the webhook is a repeat.
 * @throws GatewayError `webhook_no_connection_or_existing_installation_id`, or the error of the provider
 */
export async function install(
  deps: Deps,
  { integration }: { readonly integration: Integration },
  { handle, id }: Installation,
): Promise<void> {
  const { environmentUid, uniqueKey: integrationKey, provider: name } = integration;
  const scope = { environmentUid, integrationKey };
  const provider = deps.providers.find(name);
  if (id === null || provider === null) throw isUnclaimed();
  const context = await modeContext(deps, integration, provider);
  const waiting = await pendingOf(deps, scope, handle, context);
  if (waiting === null) {
    const existing = await deps.connectionFinder.find(scope, 'installation_id', id);
    if (existing.length > 0) return;
    throw isUnclaimed();
  }
  const { connection, connectionConfig } = waiting;
  const held = await openCredentials(deps.vault, connection);
  const obtained = await completed(held, id, {
    ...context,
    connectionConfig: withDefaults(context.provider, connectionConfig),
  }).catch(notifyInstalled);
  const { connectionId, endUser, tags } = connection;
  // The connection keeps its own.
  const owner = { ...scope, connectionId, endUser, tags, webhookUrlOverride: null };
  await saveAuthorized(
    deps,
    { ...owner, provider, known: connection },
    { obtained, askedConfig: {} },
    { actor: 'system' },
  );
}

/** The first connection that waits for an installation of this app by the user. */
async function pendingOf(
  { connectionFinder, vault }: Deps,
  scope: { readonly environmentUid: string; readonly integrationKey: string },
  handle: string,
  { client }: ModeContext,
): Promise<{ readonly connection: Connection; readonly connectionConfig: JsonObject } | null> {
  for (const connection of await connectionFinder.find(scope, 'handle', handle)) {
    const connectionConfig = await openConnectionConfig(vault, connection);
    const appId = textAt(connectionConfig, 'app_id');
    const isOfApp = appId === null || appId === client?.appId;
    if (connectionConfig['pending'] === true && isOfApp) return { connection, connectionConfig };
  }
  return null;
}

function notifyInstalled(error: unknown): never {
  throw error instanceof ProviderAuthError ? error.toGatewayError() : error;
}

const isUnclaimed = (): GatewayError =>
  new GatewayError('webhook_no_connection_or_existing_installation_id');
