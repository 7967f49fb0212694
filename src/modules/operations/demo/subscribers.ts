import { createHmac, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#kernel/time.ts';
import { formatWebhookSecret } from '#kernel/webhook-secret.ts';
import type { KeyedHash } from './tokens.ts';

const subscribersMax = 100;
const sendMs = 10_000;

/** URLs of this gateway that receive a webhook of each change, signed as Standard Webhooks says. */
export class DemoSubscribers {
  readonly #secrets = new LRUCache<string, Buffer>({ max: subscribersMax });
  readonly #clock: Clock;
  readonly #hash: KeyedHash;
  readonly #gatewayUrl: () => string;

  constructor(clock: Clock, hash: KeyedHash, gatewayUrl: () => string) {
    this.#clock = clock;
    this.#hash = hash;
    this.#gatewayUrl = gatewayUrl;
  }

  /**
   * @returns the secret that signs, the same each time; null: the URL is not one where this gateway receives webhooks.
   *   Others are refused, because the requests pass no egress guard.
   */
  add(text: string): string | null {
    const own = new URL(this.#gatewayUrl());
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url?.origin !== own.origin || !url.pathname.startsWith('/webhook/')) return null;
    const secret = Buffer.from(this.#hash('demo-webhook', url.href), 'hex');
    this.#secrets.set(url.href, secret);
    return formatWebhookSecret(secret);
  }

  /** Sends to all, once. */
  publish(type: string, data: object): void {
    const body = JSON.stringify({ type, data });
    for (const [url, secret] of this.#secrets) {
      const id = `msg_${randomUUID()}`;
      const seconds = String(Math.floor(this.#clock.now() / 1000));
      const mac = createHmac('sha256', secret).update(`${id}.${seconds}.${body}`).digest('base64');
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': seconds,
        'webhook-signature': `v1,${mac}`,
      };
      const signal = AbortSignal.timeout(sendMs);
      const sent = fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      // The gateway is ending; the next sync reads the change.
      sent.then((response) => response.body?.cancel()).catch(() => undefined);
    }
  }
}
