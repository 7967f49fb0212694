import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ControlPlane } from '../../src/control-plane/control-plane.ts';
import { findCaughtUp } from '../../src/control-plane/lookup.ts';
import { joinKey } from '../../src/kernel/ids.ts';
import type { Clock } from '../../src/kernel/time.ts';
import { findConnection } from '../../src/modules/connections/queries.ts';
import { openSigningKeys } from '../../src/modules/credentials/sealing.ts';
import type { Vault } from '../../src/modules/credentials/vault.ts';
import type { Environment } from '../../src/modules/environments/state.ts';
import { micros } from '../../src/modules/runs/events.ts';
import type { Publisher } from '../../src/modules/runs/publisher.ts';
import type { Operation, RunLogs } from '../../src/modules/runs/run-log.ts';
import {
  attemptDelivery,
  retryWaitMs,
  type AttemptResult,
} from '../../src/modules/webhooks-out/attempt.ts';
import {
  addressContext,
  deliveryContext,
  type DeliveryAction,
  type WebhookOut,
} from '../../src/modules/webhooks-out/events.ts';
import { deliveryMessage, urlOf } from '../../src/modules/webhooks-out/outbox.ts';
import { signDelivery } from '../../src/modules/webhooks-out/signature.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import type { HttpClient } from '../../src/ports/http-client.ts';
import type { Codec, Schemas } from '../../src/ports/schemas.ts';
import { throughOutage } from './attempt.ts';
import { Backlog, DeliveryMemory, readableStep } from './delivery-memory.ts';
import { FairGate } from './fair-gate.ts';
import type { ConsumerOrders, Replay } from './reactor.ts';
import { startReactor } from './runner.ts';

const topic = 'svc.webhooks-out.v1';
/** Attempts under way at once to one endpoint: a hanging one holds these and no more. */
const perEndpointMax = 10;

export interface WebhookDeliveryDeps {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly control: ControlPlane;
  readonly vault: Vault;
  readonly http: HttpClient;
  readonly publisher: Publisher;
  readonly logs: RunLogs;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly orders: ConsumerOrders;
  readonly userAgent: string;
  /** Waits; given by tests. @throws the signal's reason */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Delivers webhooks: consumer group `svc.webhook-deliveries`. At least once: the position passes only finished
 * deliveries, and what the log says of the others is read back before the first is sent.
 */
export async function startWebhookDeliveries(deps: WebhookDeliveryDeps): Promise<AsyncDisposable> {
  const codec = await deps.schemas.codec<WebhookOut>(topic);
  const dispatcher = new Dispatcher(deps);
  const backlogs = new Map<number, Backlog>();
  return startReactor({
    log: deps.log,
    group: 'svc.webhook-deliveries',
    topic,
    logger: deps.logger,
    orders: deps.orders,
    inFlightMax: 10_000,
    prepare: async (partition, from, signal) => {
      const backlog = await recover(deps, codec, dispatcher.memory, { partition, from }, signal);
      backlogs.set(partition, backlog);
    },
    async handle({ partition, message, replay }, signal) {
      const step = message.value === null ? null : codec.decode(message.value);
      if (step?.action !== 'created') return;
      if (replay?.isRepeat === true) await dispatcher.repeat(step, { partition, replay }, signal);
      else if (backlogs.get(partition)?.isFinished(step, message.offset) !== true) {
        await dispatcher.handle(step, signal);
      }
    },
  });
}

/** Reads what became of deliveries behind the position, so that those that are done are not sent again. */
async function recover(
  { log }: WebhookDeliveryDeps,
  codec: Codec<WebhookOut>,
  memory: DeliveryMemory,
  { partition, from }: { readonly partition: number; readonly from: number },
  signal: AbortSignal,
): Promise<Backlog> {
  const backlog = new Backlog(from);
  for await (const batch of log.read({ topic, partition, offset: from }, { signal })) {
    for (const { value, offset } of batch.messages) {
      const step = readableStep(codec, value);
      if (step === null) continue;
      memory.learn(step);
      backlog.learn(step, offset);
    }
  }
  return backlog;
}

class Dispatcher {
  readonly memory = new DeliveryMemory();
  /** Of the replay under way in each partition that does finished deliveries again. */
  readonly #repeats = new Map<
    number,
    { readonly until: number; readonly memory: DeliveryMemory }
  >();
  readonly #deps: WebhookDeliveryDeps;
  readonly #gate = new FairGate({
    total: Number.MAX_SAFE_INTEGER,
    perEnvironment: perEndpointMax,
    perConnection: Number.MAX_SAFE_INTEGER,
  });

  constructor(deps: WebhookDeliveryDeps) {
    this.#deps = deps;
  }

  /** A message made twice (its maker crashed) is sent once, as far as this process remembers. */
  async handle(created: WebhookOut, signal: AbortSignal): Promise<void> {
    await this.memory.once(created, () => this.#deliver(created, this.memory, signal));
  }

  /** Sends it once more, whatever became of it, with its own message id and attempts counted from 1. */
  async repeat(
    created: WebhookOut,
    { partition, replay: { until } }: { readonly partition: number; readonly replay: Replay },
    signal: AbortSignal,
  ): Promise<void> {
    const known = this.#repeats.get(partition);
    const memory = known?.until === until ? known.memory : new DeliveryMemory();
    this.#repeats.set(partition, { until, memory });
    await memory.once(created, () => this.#deliver(created, memory, signal));
  }

  async #deliver(created: WebhookOut, memory: DeliveryMemory, signal: AbortSignal): Promise<void> {
    const operation = beginLog(this.#deps, created);
    for (let attempt = memory.attemptsOf(created) + 1; ; attempt++) {
      await this.#sleepUntil(memory.dueOf(created), signal);
      const result = await this.#attempt(created, attempt, signal);
      if (result === null) {
        await this.#say(created, { action: 'cancelled', attempt }, signal);
        operation.end('cancelled', 'No URL is configured any more');
        return;
      }
      operation.write(
        result.isDelivered ? 'info' : 'warn',
        'HTTP attempt',
        JSON.stringify({ attempt, ...result }),
      );
      if (result.isDelivered) {
        await this.#say(created, { action: 'attempt_succeeded', attempt, result }, signal);
        operation.end('success', 'The webhook was delivered');
        return;
      }
      const waitMs = retryWaitMs(result, attempt);
      const dueAt = waitMs === null ? null : this.#deps.clock.now() + waitMs;
      await this.#say(created, { action: 'attempt_failed', attempt, result, dueAt }, signal);
      memory.failed(created, attempt, dueAt);
      if (dueAt === null) {
        await this.#say(created, { action: 'exhausted', attempt, result }, signal);
        operation.end('failed', `The webhook was not delivered after ${attempt} attempts`);
        return;
      }
    }
  }

  /** Null when nothing is to be sent: the URL or the environment is gone. */
  async #attempt(
    created: WebhookOut,
    attempt: number,
    signal: AbortSignal,
  ): Promise<AttemptResult | null> {
    const { control, vault, http, clock, userAgent } = this.#deps;
    const {
      environment_id: uid,
      endpoint_id,
      message_id: id,
      integration,
      connection_id,
    } = created;
    const addressed = await this.#addressOf(created);
    const visitor = { environmentUid: endpointName(created), connectionUid: '' };
    const release = await this.#gate.enter(visitor, signal);
    try {
      const target = await findCaughtUp(control.view, () => {
        const environment = control.view.find<Environment>('environment', [uid]);
        const connection = findConnection(control, uid, integration ?? '', connection_id ?? '');
        const url = addressed ?? (environment && urlOf(endpoint_id, environment, connection));
        return environment === null || url === null ? null : { environment, url };
      });
      if (target === null || created.body === null) return null;
      const { environment, url } = target;
      await vault.ready(uid);
      const body = vault.openBytes(uid, created.body, deliveryContext(uid, id));
      const at = clock.now();
      const keys = await openSigningKeys(vault, environment, at);
      const headers = {
        'content-type': 'application/json',
        'user-agent': userAgent,
        'webhook-attempt': String(attempt),
        ...signDelivery(keys, { id, body, at }),
      };
      const result = await attemptDelivery(http, { url, headers, body }, signal);
      // An attempt that the end of the process cut off is none.
      signal.throwIfAborted();
      return result;
    } finally {
      release();
    }
  }

  /** The URL that the message carries itself; null where the environment or the connection has it. */
  async #addressOf({ environment_id: uid, message_id: id, address }: WebhookOut) {
    if (address === null) return null;
    const { vault } = this.#deps;
    await vault.ready(uid);
    return Buffer.from(vault.openBytes(uid, address, addressContext(uid, id))).toString();
  }

  /** The log must know of an attempt before the next: an outage of the log is waited out. */
  async #say(
    created: WebhookOut,
    step: {
      readonly action: DeliveryAction;
      readonly attempt: number;
      readonly result?: AttemptResult;
      readonly dueAt?: number | null;
    },
    signal: AbortSignal,
  ): Promise<void> {
    const { message_id, endpoint_id, event_kind, integration, connection_id, run_id } = created;
    const { action, attempt, result, dueAt = null } = step;
    const of = {
      environmentUid: created.environment_id,
      connection: { integrationKey: integration ?? '', connectionId: connection_id ?? '' },
      ...(run_id === null ? {} : { runId: run_id }),
    };
    const message = deliveryMessage(of, {
      message_id,
      endpoint_id,
      event_kind,
      action,
      body: null,
      address: null,
      attempt,
      status: result?.status ?? null,
      latency_ms: result?.latencyMs ?? null,
      next_attempt_at: dueAt === null ? null : micros(dueAt),
      error_code: result?.errorCode ?? null,
      replay_of: null,
    });
    await throughOutage(() => this.#deps.publisher.publish([message], 'system'), signal);
  }

  async #sleepUntil(due: number | null, signal: AbortSignal): Promise<void> {
    const ms = due === null ? 0 : due - this.#deps.clock.now();
    if (ms <= 0) return;
    const sleep = this.#deps.sleep ?? ((time, ended) => wait(time, undefined, { signal: ended }));
    await sleep(ms, signal);
  }
}

/** What has its own places at the gate. */
function endpointName({
  environment_id,
  endpoint_id,
  integration,
  connection_id,
}: WebhookOut): string {
  const endpoint = joinKey(environment_id, endpoint_id);
  return endpoint_id === 'connection'
    ? joinKey(endpoint, integration ?? '', connection_id ?? '')
    : endpoint;
}

function beginLog({ logs }: WebhookDeliveryDeps, created: WebhookOut): Operation {
  const {
    message_id,
    endpoint_id,
    event_kind,
    environment_id,
    integration,
    connection_id,
    run_id,
  } = created;
  const of = {
    operationId: `${message_id}.${endpoint_id}`,
    operationType: `webhook:${event_kind}`,
    environmentUid: environment_id,
    integration: integration ?? '',
    connectionId: connection_id ?? '',
    ...(run_id === null ? {} : { runId: run_id }),
  };
  return logs.begin(of, `Webhook to the ${endpoint_id} URL`);
}
