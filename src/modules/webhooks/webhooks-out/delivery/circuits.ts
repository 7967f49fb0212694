import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { z } from 'zod';
import { joinKey } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { isToCome, type Clock } from '#kernel/time.ts';
import type { Fingerprints } from '#modules/access/vault/vault.ts';
import type { Coordination } from '#ports/coordination.ts';

/** An event published to other processes: a failure that counts, or that the circuit opened or closed. */
type CircuitBroadcast = 'failed' | 'opened' | 'closed';

interface CircuitEvents {
  readonly publish: (broadcast: CircuitBroadcast) => void;
  /** The circuit has opened or closed, because of an attempt here or in another process. */
  readonly onChange: () => void;
}

/** How long after its probe time an open circuit is deleted. */
const forgottenMs = 3_600_000;

/** A time after now is one before the clock was set back. */
const isRecent = (at: number, now: number): boolean =>
  at <= now && at > now - limits.webhookCircuitWindowMs;

/**
 * Blocks attempts to a URL that keeps failing: five failures within 10 s open it for a minute, then one attempt decides
 * whether it closes (docs/reference/webhooks-out.md#circuit-breaker).
 */
export class Circuit {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #events: CircuitEvents;
  #failures: number[] = [];
  /** Null = closed. */
  #openUntil: number | null = null;
  #isTrying = false;

  constructor(clock: Pick<Clock, 'now'>, events: CircuitEvents) {
    this.#clock = clock;
    this.#events = events;
  }

  get isOpen(): boolean {
    return this.#openUntil !== null;
  }

  /** Whether the probe attempt may be made. */
  get mayTry(): boolean {
    if (this.#openUntil === null || this.#isTrying) return false;
    return !isToCome(this.#openUntil, this.#clock.now(), limits.webhookCircuitOpenMs);
  }

  /** The circuit has no state to keep. */
  get isBlank(): boolean {
    const now = this.#clock.now();
    if (this.#openUntil !== null) return !this.#isTrying && now > this.#openUntil + forgottenMs;
    return !this.#failures.some((at) => isRecent(at, now));
  }

  /** Whether an attempt may be made; each allowed attempt ends with `succeeded`, `failed` or `abandoned`. */
  begin(): boolean {
    if (!this.isOpen) return true;
    if (!this.mayTry) return false;
    this.#isTrying = true;
    return true;
  }

  /** An attempt with a response, including statuses that blame the message and not the endpoint. */
  succeeded(): void {
    if (this.isOpen) this.#events.publish('closed');
    this.#close();
  }

  failed(): void {
    if (this.isOpen && !this.#isTrying) return;
    if (this.#isTrying) this.#open();
    else this.#count();
    this.#events.publish(this.isOpen ? 'opened' : 'failed');
  }

  /** The event of another process for the same URL. */
  heard(broadcast: CircuitBroadcast): void {
    if (broadcast === 'closed') this.#close();
    else if (broadcast === 'opened') this.#open();
    else if (!this.isOpen) this.#count();
  }

  /** The end of this process aborted the attempt: it does not count. */
  abandoned(): void {
    this.#isTrying = false;
  }

  #count(): void {
    const now = this.#clock.now();
    this.#failures = this.#failures.filter((at) => isRecent(at, now));
    this.#failures.push(now);
    if (this.#failures.length >= limits.webhookCircuitFailures) this.#open();
  }

  #open(): void {
    this.#isTrying = false;
    this.#failures = [];
    this.#openUntil = this.#clock.now() + limits.webhookCircuitOpenMs;
    this.#events.onChange();
  }

  #close(): void {
    const wasOpen = this.isOpen;
    this.#failures = [];
    this.#openUntil = null;
    this.#isTrying = false;
    if (wasOpen) this.#events.onChange();
  }
}

/** Its messages name a circuit by the URL; those of earlier versions, on `webhook-circuits`, by the endpoint. */
export const circuitChannel = 'webhook-url-circuits';

const message = z.object({
  /** The process that publishes it. */
  from: z.string(),
  circuit: z.string(),
  news: z.enum(['failed', 'opened', 'closed']),
});

export interface CircuitsDeps {
  readonly coordination: Coordination;
  readonly vault: Fingerprints;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

/**
 * The circuits of an environment's URLs (docs/reference/webhooks-out.md#circuit-breaker): endpoints with the same URL
 * share one, and an endpoint whose URL is changed has that of the new one. Processes publish their events, so that
 * failures are counted together. A lost message costs attempts, because each process then counts alone.
 */
export class Circuits implements AsyncDisposable {
  readonly #deps: CircuitsDeps;
  readonly #self = randomUUID();
  readonly #byName = new Map<string, Circuit>();
  readonly #onChange: (circuit: Circuit) => void;
  #subscription: AsyncDisposable | null = null;
  #sweptAt: number;

  /** @param onChange called after a circuit has opened or closed */
  constructor(deps: CircuitsDeps, onChange: (circuit: Circuit) => void) {
    this.#deps = deps;
    this.#onChange = onChange;
    this.#sweptAt = deps.clock.now();
  }

  /** Subscribes to the events of other processes. */
  async follow(): Promise<void> {
    this.#subscription = await this.#deps.coordination.subscribe(circuitChannel, (text) => {
      const { from, circuit, news: broadcast } = message.parse(JSON.parse(text));
      if (from !== this.#self) this.#named(circuit).heard(broadcast);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscription?.[Symbol.asyncDispose]();
  }

  of(environmentUid: string, url: string): Circuit {
    return this.#named(circuitName(this.#deps.vault, environmentUid, url));
  }

  #named(name: string): Circuit {
    const existing = this.#byName.get(name);
    if (existing !== undefined) return existing;
    this.#sweep();
    const circuit: Circuit = new Circuit(this.#deps.clock, {
      publish: (broadcast) => this.#publish(name, broadcast),
      onChange: () => this.#onChange(circuit),
    });
    this.#byName.set(name, circuit);
    return circuit;
  }

  #sweep(): void {
    const now = this.#deps.clock.now();
    if (isRecent(this.#sweptAt, now)) return;
    this.#sweptAt = now;
    for (const [name, { isBlank }] of this.#byName) if (isBlank) this.#byName.delete(name);
  }

  #publish(circuit: string, broadcast: CircuitBroadcast): void {
    const { coordination, logger } = this.#deps;
    const text = JSON.stringify({ from: this.#self, circuit, news: broadcast });
    coordination.publish(circuitChannel, text).catch((err: unknown) => {
      logger.debug({ err }, 'the state of a circuit was not published to other processes');
    });
  }
}

/** The name of a circuit between processes: a keyed hash, because a URL may contain a secret. */
export const circuitName = (vault: Fingerprints, environmentUid: string, url: string): string =>
  joinKey(environmentUid, vault.fingerprint('webhook-url', url));
