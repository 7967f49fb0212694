import type { ProcessPorts } from '#control-plane/ports.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey, uuidV5 } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { hourMs } from '#kernel/time.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { Metrics } from '#ports/metrics.ts';
import type { UnsignedLimits } from '../services.ts';
import type { IncomingRequest } from './facts.ts';
import { publish, refusedMessage } from './messages.ts';
import type { Receiver } from './receiver.ts';

export interface UnverifiedDeps extends ProcessPorts {
  readonly coordination: Coordination;
  readonly metrics: Metrics;
  readonly publisher: Publisher;
  readonly settings: UnsignedLimits;
}

/**
 * The kind of sender of an unverified webhook: `unsigned` names a connection of a provider that signs nothing, or of an
 * integration without the secret; `unknown` is any other sender, and every rejected webhook.
 */
export type UnverifiedSender = 'unknown' | 'unsigned';

/** The approximate size in the log: the minimum per webhook covers seals and other fields. */
export const sizeOf = ({ headers, search, bytes }: IncomingRequest): number =>
  bytes.length + search.length + JSON.stringify(headers).length;

/**
 * Limits the unverified webhooks of one integration that are stored per hour. Verified webhooks bypass the limit, so
 * that a flood does not block them.
 * @throws GatewayError `too_many_request`: it must not be stored
 */
export async function acceptUnverified(
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
