import { randomUUID } from 'node:crypto';
import { pause } from '#kernel/retry.ts';
import { functionEntity } from '#modules/functions/functions/entity.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import type { ExtensionServices } from '../../extension.ts';
import { subscriptionEntity } from '../subscriptions/entity.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { reconcileFunctionSubscriptions } from './function-subscriptions.ts';
import { openFunctionTarget } from './function-target.ts';
import type { OpenedTarget } from './target.ts';
import { openWebhookTarget } from './webhook-target.ts';
import { SubscriptionWorker, type WorkerDeps } from './worker.ts';

/** How often the ends of the log are compared with the positions. */
const lookEveryMs = 500;
/** How long a crashed holder's lease blocks others. */
const leaseMs = 15_000;
const leaseName = 'change-deliveries';

/** Delivers the changes of subscriptions to their targets, in one process at a time. */
export function startDeliverer(services: ExtensionServices): AsyncDisposable {
  const deliverer = new Deliverer(services);
  return deliverer;
}

class Deliverer implements AsyncDisposable {
  readonly #services: ExtensionServices;
  readonly #deps: WorkerDeps;
  readonly #token = randomUUID();
  readonly #stop = new AbortController();
  readonly #workers = new Map<string, SubscriptionWorker>();
  readonly #unwatch: () => void;
  readonly #running: Promise<void>;
  /** Whether functions or subscriptions have changed since they were compared. */
  #isOutdated = true;

  constructor(services: ExtensionServices) {
    this.#services = services;
    this.#deps = { ...services, openTarget: (state) => this.#openTarget(state) };
    this.#unwatch = services.control.view.onChange([functionEntity, subscriptionEntity], () => {
      this.#isOutdated = true;
    });
    this.#running = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#unwatch();
    await this.#running;
    await this.#services.coordination.release({ name: leaseName, token: this.#token });
  }

  async #run(): Promise<void> {
    const { logger } = this.#services;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#look();
      } catch (err) {
        logger.warn({ err }, 'changes are delivered later');
      }
      await pause(lookEveryMs, signal);
    }
    await this.#closeWorkers();
  }

  async #look(): Promise<void> {
    const { control, log, coordination } = this.#services;
    const options = { ttlMs: leaseMs, token: this.#token };
    if ((await coordination.acquire(leaseName, options)) === null) {
      await this.#closeWorkers();
      // Another holder may leave functions without a subscription.
      this.#isOutdated = true;
      return;
    }
    if (this.#isOutdated) {
      this.#isOutdated = false;
      try {
        await control.view.caughtUp();
        await reconcileFunctionSubscriptions(this.#services);
      } catch (error) {
        this.#isOutdated = true;
        throw error;
      }
    }
    const all = control.view
      .list(subscriptionEntity, [])
      .flatMap(({ state }) => (state.target === undefined ? [] : [state]));
    await this.#closeWorkers(new Set(all.map(({ uid }) => uid)));
    if (all.length === 0) return;
    const ends = await log.endOffsets(recordsTopic);
    for (const state of all) this.#workerOf(state).look(state, ends);
  }

  #workerOf(state: Subscription): SubscriptionWorker {
    const existing = this.#workers.get(state.uid);
    const worker = existing ?? new SubscriptionWorker(this.#deps, state);
    if (existing === undefined) this.#workers.set(state.uid, worker);
    return worker;
  }

  async #closeWorkers(kept: ReadonlySet<string> = new Set()): Promise<void> {
    const gone = [...this.#workers].filter(([uid]) => !kept.has(uid));
    for (const [uid] of gone) this.#workers.delete(uid);
    await Promise.all(gone.map(([, worker]) => worker[Symbol.asyncDispose]()));
  }

  #openTarget(state: Subscription): OpenedTarget | null {
    const { target } = state;
    if (target === undefined) return null;
    return target.type === 'function'
      ? openFunctionTarget(this.#services, state, target)
      : openWebhookTarget(this.#services, state, target);
  }
}
