import { systemClock } from '#kernel/time.ts';
import { signDelivery } from '#modules/webhooks/webhooks-out/signature.ts';
import type { HeardWebhook } from './webhook-feed.ts';

/** Same as the service's timeout for an application. */
const timeoutMs = 20_000;

/** The outcome: a status, or why there is none. */
export type ForwardResult = { readonly status: number } | { readonly error: string };

/** Sends the webhook in the form of the service; without a key it is not signed. */
export async function forward(
  url: string,
  { id, payload }: Pick<HeardWebhook, 'id' | 'payload'>,
  signingKey: string | null,
  signal: AbortSignal,
): Promise<ForwardResult> {
  const body = Buffer.from(JSON.stringify(payload));
  const message = { id, body, at: systemClock.now() };
  const signed =
    signingKey === null
      ? { 'webhook-id': id }
      : signDelivery({ current: signingKey, previous: null }, message);
  try {
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signed },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    return { status };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { error: cause instanceof Error ? cause.message : String(cause) };
  }
}
