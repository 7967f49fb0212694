import type { CommandOf } from '#control-plane/entity.ts';
import { createPublisher } from '#control-plane/publisher.ts';
import type { Sealed } from '#kernel/ids.ts';
import { systemClock } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import { findConnection } from '#modules/connections/connections/queries.ts';
import { syncRef, type SyncEntity } from '#modules/functions/syncs/entity.ts';
import { createInstancesFor } from '#modules/functions/syncs/reconcile.ts';
import {
  consumerGroupRef,
  type ConsumerGroupEntity,
} from '#modules/operations/consumer-groups/entity.ts';
import type { WebhookOut } from '#modules/webhooks/webhooks-out/events.ts';
import { deliveriesOf } from '#modules/webhooks/webhooks-out/outbox.ts';
import { startSyncWebhooks } from '#modules/webhooks/webhooks-out/sync-webhook.ts';
import { startWebhookDeliveries } from '#modules/webhooks/webhooks-out/webhook-delivery.ts';
import type { ConsumerGroupName } from '#streams/consumer-groups.ts';
import { consumerGroups } from '#streams/consumer-groups.ts';
import { openWebhookReceiver, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { silent } from './control.ts';
import { openRunWorld, until, type RunWorld } from './runs.ts';

const actor = 'system';

export const openWebhookWorld = async (): Promise<WebhookWorld> =>
  new WebhookWorld(await openRunWorld(), await openWebhookReceiver());

/** One connection with syncs, the two reactors of webhooks, and an application that receives them. */
export class WebhookWorld implements AsyncDisposable {
  readonly world: RunWorld;
  readonly receiver: WebhookReceiver;
  /** Seconds that deliveries waited: the clock moves instead. */
  readonly waits: number[] = [];
  #skippedMs = 0;

  constructor(world: RunWorld, receiver: WebhookReceiver) {
    this.world = world;
    this.receiver = receiver;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.receiver[Symbol.asyncDispose]();
    await this.world[Symbol.asyncDispose]();
  }

  /** Sets the clock of the process. */
  moveClock(ms: number): void {
    this.#skippedMs += ms;
  }

  startDeliveries(): Promise<AsyncDisposable> {
    return startWebhookDeliveries({
      ...this.#parts(),
      http: this.world.http,
      deliveries: this.world.services.deliveries,
      coordination: this.world.services.coordination,
      logs: this.world.logs,
      operatorRequests: this.world.operatorRequests('svc.webhook-deliveries'),
      userAgent: 'svc/1',
      sleep: async (ms) => {
        this.waits.push(Math.round(ms / 1000));
        this.#skippedMs += ms;
      },
    });
  }

  startWebhooks(published: () => Promise<void> = () => Promise.resolve()) {
    return startSyncWebhooks({
      ...this.#parts(),
      reader: { published },
      operatorRequests: this.world.operatorRequests('svc.sync-webhooks'),
    });
  }

  /** In plain text, as earlier releases stored them. */
  async setUrls(primary: string | null, secondary: string | null = null): Promise<void> {
    const { uid } = this.world.environment;
    const webhookUrls = {
      primary: primary as Sealed<string>,
      secondary: secondary as Sealed<string>,
    };
    const changes = { webhookUrls };
    await this.world.node.control.execute(
      environmentRef(uid),
      { type: 'Patch', changes },
      { actor },
    );
  }

  currentEnvironment(): Environment {
    const { node, environment } = this.world;
    return node.control.view.find(environmentRef(environment.uid))!;
  }

  async send(...messageIds: string[]): Promise<void> {
    const environment = this.currentEnvironment();
    const { node, publisher } = this.world;
    const connection = findConnection(node.control, environment.uid, 'crm', 'acme')!;
    const of = { environment, connection, kind: 'sync' as const };
    const payloads = messageIds.map((messageId) => ({
      messageId,
      payload: { type: 'sync', z: 1, a: messageId },
    }));
    await publisher.publish(await deliveriesOf(node, of, payloads), actor);
  }

  /** Ends a run as the owner would decide it, without a runner. */
  async endRun(status: 'succeeded' | 'failed'): Promise<string> {
    const { node, environment, connection } = this.world;
    const models = ['Contact', 'Deal'];
    await this.world.deploy('sync', 'contacts', '', { models, frequency: 'every hour' });
    await createInstancesFor(node.control, connection, actor);
    const ref = syncRef([environment.uid, 'crm', 'acme'], 'contacts', 'base');
    const runId = crypto.randomUUID();
    const ask = (body: CommandOf<SyncEntity>) => node.control.execute(ref, body, { actor });
    await ask({ type: 'Trigger', runId, reset: false, emptyCache: false });
    await ask({ type: 'RunStarted', runId, attempt: 1, runner: 'r' });
    const done = { added: 1, updated: 0, deleted: 0, unchanged: 0 };
    const counts = models.map((model) => ({ model, ...done }));
    const positions = models.map((model) => ({ model, partition: 0, offset: 5 }));
    const error = status === 'failed' ? { code: 'script_internal_error', message: 'no' } : null;
    await ask({ type: 'RunEnded', runId, attempt: 1, status, counts, positions, error });
    return runId;
  }

  steps(): Promise<WebhookOut[]> {
    return this.world.read<WebhookOut>('svc.webhooks-out.v1');
  }

  async actionsOf(endpoint = 'primary'): Promise<string[]> {
    const steps = await this.steps();
    return steps.filter(({ endpoint_id }) => endpoint_id === endpoint).map(({ action }) => action);
  }

  /** Whether the group's position is at the end of every partition that holds something. */
  async hasTakenAll(group: ConsumerGroupName): Promise<boolean> {
    const { topic } = consumerGroups[group];
    const committed = await this.world.world.log.committed(group, topic);
    const ends = await this.#ends(topic);
    return ends.every((end, number) => (committed.get(number) ?? 0) === end);
  }

  /** Has the group read everything again, as an operator asks for it. */
  async replay(group: ConsumerGroupName, isRepeat: boolean): Promise<void> {
    const { control } = this.world.node;
    const ends = await this.#ends(consumerGroups[group].topic);
    const moves = ends.map((end, partition) => ({ partition, from: end, to: 0, until: end }));
    const id = crypto.randomUUID();
    const body: CommandOf<ConsumerGroupEntity> = {
      type: 'Reset',
      name: group,
      id,
      moves,
      isRepeat,
      by: actor,
    };
    await control.execute(consumerGroupRef(group), body, { actor });
    await until(() => {
      const state = control.view.find(consumerGroupRef(group));
      return Object.values(state?.resets ?? {}).every(({ appliedAt }) => appliedAt !== null);
    });
    await until(() => this.hasTakenAll(group));
  }

  async #ends(topic: string): Promise<number[]> {
    const { log } = this.world.world;
    const numbers = Array.from({ length: await log.partitions(topic) }, (_, number) => number);
    return Promise.all(numbers.map((number) => log.endOffset(topic, number)));
  }

  #parts() {
    const { log, embedded } = this.world.world;
    const { control, vault } = this.world.node;
    const clock = {
      now: () => systemClock.now() + this.#skippedMs,
      nowMicros: () => systemClock.nowMicros() + this.#skippedMs * 1000,
    };
    const { schemas } = embedded;
    const publisher = createPublisher({ log, schemas, clock });
    return { log, schemas, control, vault, publisher, clock, logger: silent };
  }
}
