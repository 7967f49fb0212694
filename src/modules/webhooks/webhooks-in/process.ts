import { isOutage, GatewayError } from '#kernel/errors.ts';
import { uuidV7 } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { Clock } from '#kernel/time.ts';
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
import type { HttpClient } from '#ports/http-client.ts';
import type { WebhookSettings } from '../services.ts';
import { attribute, type AttributionContext } from './attribute.ts';
import { applyVerdict, beginLog, type EffectDeps } from './effects.ts';
import type { IncomingRequest, ReceivedWebhook } from './facts.ts';
import type { ConnectionFinder } from './find-connections.ts';
import { install } from './install.ts';
import { publish, receivedMessage, rejectedMessage } from './messages.ts';
import type { ProviderKeys } from './provider-keys.ts';
import type { Receiver } from './receiver.ts';
import { acceptUnverified, sizeOf, type UnverifiedDeps } from './unverified.ts';
import { verdictOf, type Verdict } from './verdict.ts';
import { verifyRequest, type VerificationContext } from './verify.ts';

/** The services for processing a webhook. */
export interface ProcessDeps extends EffectDeps {
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
    verdictOf(verified, await attribute(verified, context), context.rules);
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
