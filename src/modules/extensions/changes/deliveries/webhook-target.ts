import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { objectOf } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import { environmentName, openSigningKeys } from '#modules/access/environments/queries.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { HttpFailure, type HttpClient } from '#ports/http-client.ts';
import { signDelivery } from '#rules/signature.ts';
import { openAddress } from '../subscriptions/handlers.ts';
import type { Subscription, WebhookTarget } from '../subscriptions/subscription.ts';
import type { OpenedTarget, SendOutcome } from './target.ts';

export interface WebhookTargetDeps extends SealedEntities {
  readonly http: HttpClient;
  readonly clock: Clock;
}

/** Responses are read up to here and discarded. */
const responseBytesMax = 64 * 1024;
/** Of the receiver as a whole, not of the changes. */
const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);

/** Each batch is a signed request. */
export function openWebhookTarget(
  deps: WebhookTargetDeps,
  subscription: Subscription,
  target: WebhookTarget,
): OpenedTarget {
  const { batchSize, retries } = target;
  return {
    batchSize,
    retries,
    isOfConnection: false,
    async send(changes, { id }, signal) {
      const texts = changes.map(({ text }) =>
        target.payload === 'ids' ? withoutRecord(text) : text,
      );
      const fields = {
        type: 'changes',
        from: 'svc',
        id,
        environment: environmentName(deps.control, subscription.environmentUid),
        subscription: subscription.name,
      };
      const body = `${JSON.stringify(fields).slice(0, -1)},"changes":[${texts.join(',')}]}`;
      const message = { id, body: Buffer.from(body) };
      return post(deps, subscription, target, message, signal);
    },
  };
}

function withoutRecord(text: string): string {
  const { record: _, ...change } = objectOf(JSON.parse(text));
  return JSON.stringify(change);
}

async function post(
  { control, vault, http, clock }: WebhookTargetDeps,
  subscription: Subscription,
  target: WebhookTarget,
  message: { readonly id: string; readonly body: Buffer },
  signal: AbortSignal,
): Promise<SendOutcome> {
  const environment = control.view.find(environmentRef(subscription.environmentUid));
  if (environment === null) throw new GatewayError('not_found');
  const url = new URL(await openAddress(vault, subscription, target));
  const at = clock.now();
  const signature = signDelivery(await openSigningKeys(vault, environment, at), { ...message, at });
  try {
    const { status } = await http.request({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', ...signature },
      body: message.body,
      timeoutMs: limits.webhookTimeoutMs,
      maxBytes: responseBytesMax,
      dropsBody: true,
      signal,
    });
    if (status >= 200 && status < 300) return { isTaken: true };
    const isByTarget = !passingStatuses.has(status);
    return { isTaken: false, isByTarget, reason: `The address answered ${status}.` };
  } catch (error) {
    signal.throwIfAborted();
    // Also of the egress policy.
    if (!(error instanceof HttpFailure || error instanceof GatewayError)) throw error;
    const reason = `The address was not reached: ${error.code}.`;
    return { isTaken: false, isByTarget: false, reason };
  }
}
