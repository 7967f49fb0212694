import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { EntityRef } from '#control-plane/entity.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { limits } from '#kernel/limits.ts';
import { environmentEntity, type EnvironmentEntity } from '#modules/access/environments/entity.ts';
import {
  connectionEntity,
  type ConnectionEntity,
} from '#modules/connections/connections/entity.ts';
import { micros, millis } from '#modules/functions/runs/ledger/events.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { OperationLogs } from '#ports/operation-log.ts';
import {
  webhookEndpointEntity,
  type WebhookEndpointEntity,
} from '../../webhook-endpoints/entity.ts';
import type { Deliveries } from '../deliveries.ts';
import { lineOf, type Delivery, type DeliveryName, type EndpointRef } from '../delivery-store.ts';
import type { DeliveryAction, WebhookOut } from '../events.ts';
import { deliveryMessage } from '../outbox.ts';
import { Backlog, dueAtOf } from './backlog.ts';
import { type Circuit, Circuits } from './circuits.ts';
import { EndpointHealth } from './endpoint-health.ts';
import { EndpointQueue } from './endpoint-queue.ts';
import { EndpointTokens } from './endpoint-tokens.ts';
import { Ordering } from './ordering.ts';
import {
  jitterOf,
  retryWaitMs,
  type AttemptResult,
  configuredTarget,
  sendOnce,
  targetOf,
  type SendDeps,
  type SendingDeps,
  type SentAttempt,
} from './send.ts';
import { noteAttempt, type Outcome, StepWriter } from './step-writer.ts';

/** A retry with a longer wait waits in the log. */
const sleepMaxMs = 15_000;
/** Limit of deliveries in memory of this process; beyond it only short queues accept more. */
const takenMax = 20_000;
const repeatPauseMs = 1_000;

/** The entities that hold the URL of an endpoint. */
const endpointKinds = [environmentEntity, webhookEndpointEntity, connectionEntity];
type EndpointHolder = EntityRef<EnvironmentEntity | WebhookEndpointEntity | ConnectionEntity>;

export interface DispatcherDeps extends SendDeps {
  readonly publisher: Publisher;
  readonly deliveries: Deliveries;
  readonly logs: OperationLogs;
  readonly logger: Logger;
  readonly coordination: Coordination;
  /**
   * Waits; replaced by tests.
   * @throws the signal's reason
   */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A delivery in memory. */
interface Job {
  readonly created: WebhookOut;
  readonly partition: number;
  readonly offset: number;
  /** Number of earlier attempts. */
  readonly attempts: number;
  /** When the next is due, ms; null = now. */
  readonly dueAt: number | null;
  /** An operator requested a retry, independent of the state. */
  readonly isRepeat: boolean;
}

interface StepOf {
  readonly action: DeliveryAction;
  readonly attempt: number;
  readonly result?: AttemptResult;
  readonly dueAt?: number | null;
  readonly errorCode?: string;
}

/** A delivery whose last step the view does not have yet. */
interface UnsettledDelivery {
  readonly partition: number;
  /** Of its last step. */
  readonly offset: number;
  /** Drops it from memory. The backlog, which passed over it meanwhile, gets it where it has to wait. */
  readonly settle: () => void;
}

/** Sends webhooks with one queue per endpoint, so that endpoints do not block each other. */
export class Dispatcher implements AsyncDisposable {
  readonly #deps: DispatcherDeps;
  readonly #lines = new Map<string, EndpointQueue>();
  readonly #backlogs = new Map<number, Backlog>();
  /** Deliveries in memory, until the view has their outcome. */
  readonly #taken = new Set<string>();
  #settling: UnsettledDelivery[] = [];
  readonly #steps: StepWriter;
  readonly #circuits: Circuits;
  readonly #health: EndpointHealth;
  readonly #ordering: Ordering;
  readonly #sending: SendingDeps;
  readonly #ending = new AbortController();
  readonly #stopListening: readonly (() => void)[];

  static async start(deps: DispatcherDeps): Promise<Dispatcher> {
    const dispatcher = new Dispatcher(deps);
    await dispatcher.#circuits.follow();
    return dispatcher;
  }

  private constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#circuits = new Circuits(deps, (circuit) => this.#circuitChanged(circuit));
    this.#health = new EndpointHealth(deps);
    this.#ordering = new Ordering(deps);
    this.#sending = { ...deps, tokens: new EndpointTokens(deps) };
    this.#steps = new StepWriter(deps.publisher, this.#ending.signal);
    this.#stopListening = [
      deps.deliveries.onChange(() => this.#settle()),
      deps.control.view.onChange(endpointKinds, (changed) => this.#endpointsChanged(changed)),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stopListening) stop();
    this.#ending.abort();
    await this.#circuits[Symbol.asyncDispose]();
  }

  #circuitChanged(circuit: Circuit): void {
    for (const [name, line] of this.#lines) {
      if (line.circuit !== circuit) continue;
      line.start();
      this.#settleLine(name);
    }
  }

  /** Deliveries behind an open circuit continue when their endpoint has another URL now. */
  #endpointsChanged(changed: readonly EndpointHolder[]): void {
    for (const endpoint of changed.flatMap(endpointsOf)) {
      if (this.#lines.get(lineOf(endpoint))?.circuit?.isOpen !== true) continue;
      this.#findUrl(endpoint).catch((err: unknown) => {
        const { logger } = this.#deps;
        logger.warn({ err, endpoint: endpoint.endpoint_id }, 'a changed webhook URL was not read');
      });
    }
  }

  async #findUrl(endpoint: EndpointRef): Promise<void> {
    const target = await configuredTarget(this.#deps, endpoint);
    const name = lineOf(endpoint);
    const { environment_id: uid } = endpoint;
    this.#lines.get(name)?.sendsTo(target === null ? null : this.#circuits.of(uid, target.url));
    if (this.#lines.has(name)) this.#settleLine(name);
  }

  /** Starts a partition at the offset: unfinished deliveries before it continue until the signal. */
  async hold(partition: number, from: number, signal: AbortSignal): Promise<void> {
    const { deliveries, control, clock, logger } = this.#deps;
    // Of endpoints it must be known whether they are ordered.
    await Promise.all([deliveries.caughtUp(), control.view.caughtUp()]);
    const backlog = new Backlog(
      {
        deliveries,
        clock,
        logger,
        room: (line) => this.#line(line).backlogRoom,
        isTaken: (delivery) => this.#taken.has(nameOf(delivery)),
        isBlocked: (delivery) => this.#ordering.isBlocked(delivery),
        start: (delivery, line, until) => this.#resume(delivery, line, until),
      },
      partition,
    );
    backlog.restore(from);
    this.#backlogs.set(partition, backlog);
    void backlog.run(signal);
  }

  /** Resolves when the delivery is finished, or waits in the log. */
  async take(
    created: WebhookOut,
    position: { readonly partition: number; readonly offset: number },
    signal: AbortSignal,
  ): Promise<void> {
    const name = { messageId: created.message_id, endpointId: created.endpoint_id };
    const { partition, offset } = position;
    const isOrdered = this.#ordering.isOrdered(created);
    // The view has then all that come before.
    if (isOrdered) await this.#deps.deliveries.until(partition, offset + 1);
    const existing = this.#deps.deliveries.tables.get(name);
    if (this.#taken.has(nameOf(name))) return;
    // Finished, or a duplicate of a producer that did not see the first.
    if (existing !== null && (existing.state !== 'pending' || existing.offset !== position.offset))
      return;
    const lineName = lineOf(created);
    const backlog = this.#backlogs.get(position.partition);
    const dueAt = existing === null ? null : dueAtOf(existing, this.#deps.clock.now());
    const first = isOrdered ? this.#ordering.first(created, partition) : null;
    if (first !== null && first.offset < offset) {
      backlog?.addBlocked(lineName, offset);
      return;
    }
    const isAhead = isOrdered || backlog === undefined || !backlog.isBehind(lineName);
    const hasRoom = this.#line(lineName).hasRoom(this.#taken.size >= takenMax);
    if (isAhead && hasRoom) {
      const attempts = existing?.attempts ?? 0;
      await this.#run({ created, ...position, attempts, dueAt, isRepeat: false }, signal);
    } else backlog?.add(lineName, position.offset, dueAt);
  }

  /** Sends it once more with its own message id, and attempts counted from 1. */
  async repeat(
    created: WebhookOut,
    position: { readonly partition: number; readonly offset: number },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#deliver({ created, ...position, attempts: 0, dueAt: null, isRepeat: true }, signal);
  }

  async #resume(delivery: Delivery, line: string, signal: AbortSignal): Promise<void> {
    const name = nameOf(delivery);
    this.#taken.add(name);
    const arrived = this.#line(line).announce();
    let running: Promise<void>;
    try {
      const created = await this.#deps.deliveries.valueAt(delivery);
      if (created === null) return;
      const { partition, offset, attempts } = delivery;
      const job = { created, partition, offset, attempts, dueAt: null, isRepeat: false };
      running = this.#run(job, signal);
    } catch (error) {
      this.#taken.delete(name);
      throw error;
    } finally {
      arrived();
    }
    await running;
  }

  async #run(job: Job, signal: AbortSignal): Promise<void> {
    const { created, partition, offset } = job;
    const name = nameOf({ messageId: created.message_id, endpointId: created.endpoint_id });
    this.#taken.add(name);
    let settled: { readonly at: number; readonly waits: number | 'circuit' | null };
    try {
      settled = await this.#deliver(job, signal);
    } catch (error) {
      this.#taken.delete(name);
      throw error;
    }
    const { at, waits } = settled;
    const keep = (): void => {
      if (waits === null) return;
      const dueAt = waits === 'circuit' ? null : waits;
      this.#backlogs.get(partition)?.add(lineOf(created), offset, dueAt);
    };
    const settle = (): void => {
      this.#taken.delete(name);
      if (waits === null) this.#startNext(created, partition);
      keep();
    };
    if (this.#deps.deliveries.has(partition, at + 1)) settle();
    else {
      keep();
      this.#settling.push({ partition, offset: at, settle });
    }
  }

  /** Drops deliveries whose outcome the view has. The backlog passed over them while they were taken. */
  #settle(): void {
    const { deliveries } = this.#deps;
    const isSettled = ({ partition, offset }: UnsettledDelivery): boolean =>
      deliveries.has(partition, offset + 1);
    const settled = this.#settling.filter(isSettled);
    this.#settling = this.#settling.filter((unsettled) => !isSettled(unsettled));
    for (const { settle } of settled) settle();
  }

  /** After a delivery is finished: the next one of its connection. */
  #startNext(created: WebhookOut, partition: number): void {
    const next = this.#ordering.first(created, partition);
    if (next !== null) this.#backlogs.get(partition)?.resume(next, lineOf(created));
  }

  /** Runs until it is finished, or waits for a time or its endpoint. `at` is the offset of the last published step. */
  async #deliver(
    job: Job,
    signal: AbortSignal,
  ): Promise<{ readonly at: number; readonly waits: number | 'circuit' | null }> {
    const { created, isRepeat } = job;
    const say = (step: StepOf): Promise<number> => this.#say(job, step, signal);
    let { dueAt } = job;
    let at = job.offset;
    const beganAt = performance.now();
    const note = (attempt: number, sent: SentAttempt | null, outcome: Outcome): void => {
      const tookMs = performance.now() - beganAt;
      noteAttempt(this.#deps.logs, created, { attempt, sent, outcome, tookMs });
    };
    for (let attempt = job.attempts + 1; ; attempt += 1) {
      const waitMs = dueAt === null ? 0 : dueAt - this.#deps.clock.now();
      if (waitMs > sleepMaxMs && !isRepeat) return { at, waits: dueAt };
      if (waitMs > 0) await this.#sleep(waitMs, signal);
      const sent = await this.#attempt(job, attempt, signal);
      if (sent === 'circuit') {
        if (!this.#isGivenUp(created)) return { at, waits: 'circuit' };
        note(attempt - 1, null, 'failed');
        at = await say({ action: 'exhausted', attempt: attempt - 1, errorCode: 'circuit_open' });
        return { at, waits: null };
      }
      if (sent === null) {
        note(attempt, sent, 'cancelled');
        at = await say({ action: 'cancelled', attempt });
        return { at, waits: null };
      }
      const { result, waitsMs } = sent;
      if (result.isDelivered) {
        note(attempt, sent, 'delivered');
        at = await say({ action: 'attempt_succeeded', attempt, result });
        return { at, waits: null };
      }
      const retryMs = retryWaitMs(result, attempt, waitsMs);
      dueAt =
        retryMs === null ? null : this.#deps.clock.now() + retryMs + jitterOf(created, retryMs);
      note(attempt, sent, dueAt === null ? 'failed' : 'retry');
      at = await say({ action: 'attempt_failed', attempt, result, dueAt });
      if (dueAt === null) {
        at = await say({ action: 'exhausted', attempt, result });
        return { at, waits: null };
      }
    }
  }

  /** Null when nothing must be sent; `circuit` while the endpoint fails and the delivery waits in the backlog. */
  async #attempt(
    job: Job,
    attempt: number,
    signal: AbortSignal,
  ): Promise<SentAttempt | null | 'circuit'> {
    for (;;) {
      const sent = await this.#attemptNow(job, attempt, signal);
      if (sent !== 'circuit' || !job.isRepeat) return sent;
      await this.#sleep(repeatPauseMs, signal);
    }
  }

  async #attemptNow(
    { created }: Job,
    attempt: number,
    signal: AbortSignal,
  ): Promise<SentAttempt | null | 'circuit'> {
    const name = lineOf(created);
    const line = this.#line(name);
    if (!(await line.enter(signal))) return 'circuit';
    try {
      const target = await targetOf(this.#deps, created);
      const { body: sealedBody, environment_id: uid } = created;
      if (target === null || sealedBody === null) return null;
      const circuit = this.#circuits.of(uid, target.url);
      line.sendsTo(circuit);
      if (!circuit.begin()) return 'circuit';
      const sent = await this.#sendThrough(circuit, () =>
        sendOnce(this.#sending, target, { created, sealedBody }, attempt, signal),
      );
      this.#health.attempted(target.endpoint, sent.result.isDelivered);
      return sent;
    } finally {
      line.leave();
      this.#settleLine(name);
    }
  }

  async #sendThrough(circuit: Circuit, send: () => Promise<SentAttempt>): Promise<SentAttempt> {
    let sent: SentAttempt | null = null;
    try {
      sent = await send();
    } finally {
      if (sent === null) circuit.abandoned();
      else if (!sent.result.isDelivered && sent.result.isOutage) circuit.failed();
      else circuit.succeeded();
    }
    return sent;
  }

  /** Fills free slots of a queue from the backlog; deletes a queue without state. */
  #settleLine(name: string): void {
    const line = this.#line(name);
    if (line.isLow) for (const backlog of this.#backlogs.values()) backlog.drained(name);
    if (line.isIdle) this.#lines.delete(name);
  }

  #line(name: string): EndpointQueue {
    const existing = this.#lines.get(name);
    if (existing !== undefined) return existing;
    const line = new EndpointQueue();
    this.#lines.set(name, line);
    return line;
  }

  #isGivenUp({ occurred_at }: WebhookOut): boolean {
    return this.#deps.clock.now() - millis(occurred_at) > limits.webhookWaitMaxMs;
  }

  /** Resolves with an offset at or after the step's. */
  #say({ created, partition }: Job, step: StepOf, signal: AbortSignal): Promise<number> {
    const { action, attempt, result, dueAt = null, errorCode } = step;
    const { run_id } = created;
    const subject = {
      environmentUid: created.environment_id,
      connection: {
        integrationKey: created.integration ?? '',
        connectionId: created.connection_id,
      },
      ...(run_id === null ? {} : { runId: run_id }),
    };
    const message = deliveryMessage(subject, {
      message_id: created.message_id,
      endpoint_id: created.endpoint_id,
      event_kind: created.event_kind,
      action,
      body: null,
      address: null,
      headers: null,
      attempt,
      status: result?.status ?? null,
      latency_ms: result?.latencyMs ?? null,
      next_attempt_at: dueAt === null ? null : micros(dueAt),
      error_code: errorCode ?? result?.errorCode ?? null,
      replay_of: null,
    });
    return this.#steps.say(message, partition, signal);
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const sleep = this.#deps.sleep ?? ((time, ended) => wait(time, undefined, { signal: ended }));
    return sleep(ms, signal);
  }
}

const nameOf = ({ messageId, endpointId }: DeliveryName): string => `${messageId}/${endpointId}`;

/** The endpoints whose URL the entity holds. */
function endpointsOf({ kind, path }: EndpointHolder): readonly EndpointRef[] {
  const [environment_id = '', second = '', third = ''] = path;
  const ofNone = { environment_id, integration: null, connection_id: null };
  switch (kind) {
    case 'environment':
      return ['primary', 'secondary'].map((endpoint_id) => ({ ...ofNone, endpoint_id }));
    case 'webhook-endpoint':
      return [{ ...ofNone, endpoint_id: second }];
    case 'connection':
      return [
        { environment_id, endpoint_id: 'connection', integration: second, connection_id: third },
      ];
  }
}
