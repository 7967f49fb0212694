import { setTimeout as wait } from 'node:timers/promises';
import { GatewayError, isOutage } from '#kernel/errors.ts';
import type { ReactorDeps } from '#streams/reactor/reactor.ts';
import { startReactor } from '#streams/reactor/runner.ts';
import type { WebhookIn } from './events.ts';
import { incomingTopic } from './incoming-store.ts';
import { openReceived } from './messages.ts';
import { processWebhook, type ProcessDeps } from './process.ts';
import { receiverOf } from './receiver.ts';

export type IncomingWebhookDeps = ProcessDeps & ReactorDeps;

/** The node that stored a webhook evaluates it within this time, unless the node has stopped. */
const graceMs = 10_000;

/**
 * Evaluates stored webhooks whose node stopped before it published their outcome: consumer group
 * `svc.incoming-webhooks`. The derived ids are the same as on the first node.
 */
export async function startIncomingWebhooks(deps: IncomingWebhookDeps): Promise<AsyncDisposable> {
  const outcomes = new Outcomes(deps.incoming);
  const reactor = await startReactor<WebhookIn>(deps, {
    group: 'svc.incoming-webhooks',
    topic: incomingTopic,
    type: 'svc.webhook-in.received',
    async handle(step, { replay }, signal) {
      if (step.disposition !== 'received') return;
      if (replay?.isRepeat !== true) {
        if (await outcomes.comes(step, untilGrace(deps, step), signal)) return;
      }
      await evaluateAgain(deps, step, replay?.isRepeat === true);
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      await reactor[Symbol.asyncDispose]();
      outcomes[Symbol.dispose]();
    },
  };
}

const untilGrace = ({ clock }: IncomingWebhookDeps, { received_at: at }: WebhookIn): number =>
  Math.max(0, at / 1000 + graceMs - clock.now());

/**
 * A rejection is stored in the log, so it is ignored here.
 * @throws GatewayError in an outage
 */
async function evaluateAgain(
  deps: IncomingWebhookDeps,
  step: WebhookIn,
  isRepeat: boolean,
): Promise<void> {
  try {
    const stored = await openReceived(deps.vault, step);
    if (stored === null) return;
    const address = { environmentUid: step.environment_id, integrationKey: step.integration ?? '' };
    const receiver = await receiverOf(deps, address);
    if (receiver !== null) await processWebhook(deps, receiver, stored, isRepeat);
  } catch (error) {
    if (!(error instanceof GatewayError) || isOutage(error)) throw error;
  }
}

type IncomingTopics = IncomingWebhookDeps['incoming'];

/** Waits for the outcomes that nodes publish of their stored webhooks. */
class Outcomes implements Disposable {
  readonly #incoming: IncomingTopics;
  readonly #waiting = new Map<WebhookIn, () => void>();
  readonly #stop: () => void;

  constructor(incoming: IncomingTopics) {
    this.#incoming = incoming;
    this.#stop = incoming.onChange(() => {
      for (const [step, publish] of this.#waiting) if (this.#isKnown(step)) publish();
    });
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  /**
   * Whether an outcome arrives within the time.
   * @throws the signal's reason
   */
  async comes(step: WebhookIn, withinMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.#isKnown(step)) return true;
    const ended = new AbortController();
    this.#waiting.set(step, () => ended.abort());
    try {
      const both = AbortSignal.any([signal, ended.signal]);
      await wait(withinMs, undefined, { signal: both }).catch(() => signal.throwIfAborted());
    } finally {
      this.#waiting.delete(step);
    }
    await this.#incoming.caughtUp();
    return this.#isKnown(step);
  }

  #isKnown({ environment_id: uid, delivery_id: id }: WebhookIn): boolean {
    const found = this.#incoming.tables.get(uid, id);
    return found !== null && found.disposition !== 'received';
  }
}
