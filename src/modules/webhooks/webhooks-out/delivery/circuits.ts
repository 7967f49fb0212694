import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { z } from 'zod';
import { joinKey } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { Clock } from '#kernel/time.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { Coordination } from '#ports/coordination.ts';
import { Circuit, type CircuitBroadcast } from './circuit.ts';

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
  readonly vault: Pick<Vault, 'fingerprint'>;
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
    if (now - this.#sweptAt < limits.webhookCircuitWindowMs) return;
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
export const circuitName = (
  vault: Pick<Vault, 'fingerprint'>,
  environmentUid: string,
  url: string,
): string => joinKey(environmentUid, vault.fingerprint('webhook-url', url));
