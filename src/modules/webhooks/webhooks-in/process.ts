import type { Logger } from 'pino';
import type { ProcessPorts } from '#control-plane/ports.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { isOutage, GatewayError } from '#kernel/errors.ts';
import { uuidV7, joinKey, uuidV5 } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { type Clock, hourMs } from '#kernel/time.ts';
import type {
  ConnectionDependents,
  LifecycleFunctions,
} from '#modules/connections/connections/dependents.ts';
import { connectionsOfIntegration } from '#modules/connections/connections/queries.ts';
import {
  openIntegrationCredentials,
  openMetadata,
} from '#modules/connections/credentials/sealing.ts';
import { webhookUrlOf } from '#modules/connections/integrations/routes.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { Metrics } from '#ports/metrics.ts';
import type { WebhookSettings, UnsignedLimits } from '../services.ts';
import { attribute, type AttributionContext } from './attribute.ts';
import { applyVerdict, beginLog, type EffectDeps, install } from './effects.ts';
import type { IncomingRequest, ReceivedWebhook } from './facts.ts';
import type { ConnectionFinder } from './find-connections.ts';
import { publish, receivedMessage, rejectedMessage, refusedMessage } from './messages.ts';
import type { Receiver } from './receiver.ts';
import { verdictOf, type Verdict } from './verdict.ts';
import type { ProviderKeys } from './verify-token.ts';
import { verifyRequest, type VerificationContext } from './verify.ts';

/** The services for processing a webhook. */
export interface ProcessDeps extends EffectDeps {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly connectionFinder: ConnectionFinder;
  readonly providerKeys: ProviderKeys;
  readonly http: HttpClient;
  readonly connectionDependents: ConnectionDependents;
  readonly lifecycle: LifecycleFunctions;
  readonly providers: ProviderCatalogue;
  readonly settings: WebhookSettings;
}

/** Present when the provider waits for the response. */
export type IngressDeps = ProcessDeps & UnverifiedDeps;

/** A new request that is not in the log yet. */
export function arrivalOf(
  { clock }: { readonly clock: Clock },
  request: IncomingRequest,
): ReceivedWebhook {
  const receivedAt = clock.now();
  return { id: uuidV7(receivedAt), receivedAt, request };
}

/** The verdict on a webhook. */
export interface Judgment {
  readonly verdict: Verdict;
  /** Attributes the same facts to the connections as they are now. */
  readonly judgeAgain: () => Promise<Verdict>;
}

/**
 * Verifies a request by the rules of the provider, attributes it to connections, and decides what follows.
 * @throws GatewayError the rejection (docs/reference/webhooks-in.md#answers)
 */
export async function judge(
  request: IncomingRequest,
  context: VerificationContext & AttributionContext,
): Promise<Judgment> {
  const verified = await verifyRequest(request, context);
  const judgeAgain = async (): Promise<Verdict> =>
    verdictOf(verified, await attribute(verified, context), context);
  return { verdict: await judgeAgain(), judgeAgain };
}

/**
 * Verifies a new webhook. A rejected webhook is stored with the reason, within the limits for unverified senders; so is
 * one that cannot be evaluated now, which is evaluated later.
 * @throws GatewayError the rejection; `too_many_request`: it is not stored
 */
export async function judgeArrived(
  deps: IngressDeps,
  receiver: Receiver,
  webhook: ReceivedWebhook,
): Promise<Judgment> {
  try {
    return await judge(webhook.request, await contextOf(deps, receiver, webhook));
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
  judgment: Judgment,
): Promise<void> {
  const { isVerified, connections } = judgment.verdict;
  if (!isVerified) {
    const sender = connections.length > 0 ? 'unsigned' : 'unknown';
    await acceptUnverified(deps, receiver, sender, sizeOf(webhook.request));
  }
  await publish(deps, await receivedMessage(deps, receiver, webhook));
  const verdict = await installed(deps, receiver, webhook, judgment);
  await applyVerdict(deps, receiver, webhook, verdict, false);
}

/**
 * Verifies a stored webhook, forwards it, starts the subscribed functions, and appends the outcome to the log.
 * @throws GatewayError the rejection, which is also in the log
 */
export async function processWebhook(
  deps: ProcessDeps,
  receiver: Receiver,
  stored: ReceivedWebhook,
  isAgain = false,
): Promise<void> {
  const judgment = await rejecting(deps, receiver, stored, async () =>
    judge(stored.request, await contextOf(deps, receiver, stored)),
  );
  const verdict = await installed(deps, receiver, stored, judgment);
  await applyVerdict(deps, receiver, stored, verdict, isAgain);
}

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

/** The verdict once an app is installed: the event belongs to the connection that waited for it. */
async function installed(
  deps: ProcessDeps,
  receiver: Receiver,
  stored: ReceivedWebhook,
  { verdict, judgeAgain }: Judgment,
): Promise<Verdict> {
  const { installation } = verdict;
  if (installation === null) return verdict;
  return rejecting(deps, receiver, stored, async () => {
    await install(deps, receiver, installation);
    return judgeAgain();
  });
}

/** What the rules of the provider are applied to besides the request. */
async function contextOf(deps: ProcessDeps, receiver: Receiver, { receivedAt }: ReceivedWebhook) {
  const { integration, rules } = receiver;
  const { control, vault, connectionFinder, providerKeys, providers, settings } = deps;
  const { environmentUid, uniqueKey: integrationKey } = integration;
  const scope = { environmentUid, integrationKey };
  return {
    rules,
    credentials: await openIntegrationCredentials(vault, integration),
    // On a repeated evaluation: the time of arrival.
    now: Math.floor(receivedAt / 1000),
    address: () =>
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

interface UnverifiedDeps extends ProcessPorts {
  readonly coordination: Coordination;
  readonly metrics: Metrics;
  readonly publisher: Publisher;
  readonly settings: UnsignedLimits;
}

/**
 * The kind of sender of an unverified webhook: `unsigned` names a connection of a provider that signs nothing, or of an
 * integration without the secret; `unknown` is any other sender, and every rejected webhook.
 */
type UnverifiedSender = 'unknown' | 'unsigned';

/** The approximate size in the log: the minimum per webhook covers seals and other fields. */
const sizeOf = ({ headers, search, bytes }: IncomingRequest): number =>
  bytes.length + search.length + JSON.stringify(headers).length;

/**
 * Limits the unverified webhooks of one integration that are stored per hour. Verified webhooks bypass the limit, so
 * that a flood does not block them.
 * @throws GatewayError `too_many_request`: it must not be stored
 */
async function acceptUnverified(
  deps: UnverifiedDeps,
  receiver: Receiver,
  sender: UnverifiedSender,
  bytes: number,
): Promise<void> {
  const { coordination, clock, metrics, settings } = deps;
  const max =
    sender === 'unknown'
      ? limits.webhookUnknownBytesPerHour
      : settings.webhookUnsignedMbPerHour * 1024 ** 2;
  const hour = Math.floor(clock.now() / hourMs);
  const by = Math.max(bytes, limits.webhookUnverifiedBytesMin);
  const name = counterOf(`webhooks-${sender}`, receiver, hour);
  const { value } = await coordination.count(name, { windowMs: hourMs, by });
  const isKept = value - by < max;
  metrics.count('svc_webhooks_unverified_total', [isKept ? 'kept' : 'refused']);
  if (isKept) return;
  await noteRefusal(deps, receiver, hour);
  const message = 'The hourly limit of unverified webhooks of this integration is reached.';
  const retryAfterS = Math.ceil(((hour + 1) * hourMs - clock.now()) / 1000);
  throw new GatewayError('too_many_request', { message, retryAfterS });
}

const counterOf = (what: string, { environment, integration }: Receiver, hour: number): string =>
  joinKey(what, environment.uid, integration.uniqueKey, String(hour));

/**
 * Logs the number refused in the hour at 1, 10, 100 and so on, so that a flood writes few messages. Sent in the
 * background, because the refusal does not depend on them.
 */
async function noteRefusal(deps: UnverifiedDeps, receiver: Receiver, hour: number): Promise<void> {
  const { coordination, clock, logger } = deps;
  const name = counterOf('webhooks-refused', receiver, hour);
  const { value: count } = await coordination.count(name, { windowMs: hourMs });
  if (!/^10*$/.test(String(count))) return;
  const { uniqueKey: integration, environmentUid: environment } = receiver.integration;
  logger.warn({ environment, integration, count }, 'unverified webhooks are refused');
  const id = uuidV5(environment, joinKey('webhooks-refused', integration, String(hour)));
  const refusal = { id, at: clock.now(), count, reason: 'too_many_request', status: 429 };
  await publish(deps, refusedMessage(receiver, refusal)).catch((err: unknown) => {
    logger.warn({ err, environment, integration }, 'the number of refused webhooks was not noted');
  });
}
