import { millis } from '../../src/modules/runs/events.ts';
import type { WebhookOut } from '../../src/modules/webhooks-out/events.ts';
import type { Codec } from '../../src/ports/schemas.ts';

type Name = Pick<WebhookOut, 'message_id' | 'endpoint_id'>;

/** Deliveries remembered as finished. Older ones may be sent again: delivery is at least once. */
const finishedMax = 50_000;

/** What this process knows of deliveries: their attempts so far, and which are finished. */
export class DeliveryMemory {
  readonly #finished = new Set<string>();
  readonly #attempts = new Map<
    string,
    { readonly attempt: number; readonly dueAt: number | null }
  >();
  readonly #underWay = new Map<string, Promise<void>>();

  /** Takes in a step that the log holds. */
  learn(step: WebhookOut): void {
    if (isEnding(step)) this.#finish(nameOf(step));
    else if (step.action === 'attempt_failed' && step.next_attempt_at !== null) {
      this.failed(step, step.attempt, millis(step.next_attempt_at));
    }
  }

  failed(of: Name, attempt: number, dueAt: number | null): void {
    this.#attempts.set(nameOf(of), { attempt, dueAt });
  }

  attemptsOf(of: Name): number {
    return this.#attempts.get(nameOf(of))?.attempt ?? 0;
  }

  /** When the next attempt is due; null = now. */
  dueOf(of: Name): number | null {
    return this.#attempts.get(nameOf(of))?.dueAt ?? null;
  }

  /** Runs the task unless the delivery is finished; one that is under way is waited for. */
  async once(of: Name, task: () => Promise<void>): Promise<void> {
    const name = nameOf(of);
    await this.#underWay.get(name)?.catch(() => undefined);
    if (this.#finished.has(name)) return;
    const running = task();
    this.#underWay.set(name, running);
    try {
      await running;
      this.#finish(name);
    } finally {
      this.#underWay.delete(name);
    }
  }

  #finish(name: string): void {
    this.#attempts.delete(name);
    this.#finished.add(name);
    if (this.#finished.size <= finishedMax) return;
    const [oldest = ''] = this.#finished;
    this.#finished.delete(oldest);
  }
}

/**
 * What the log says of the deliveries of one partition from an offset on: which of them have an outcome. It
 * holds only those that have none, however long the way back.
 */
export class Backlog {
  readonly #unfinished = new Set<string>();
  readonly #from: number;
  #until: number;

  constructor(from: number) {
    this.#from = from;
    this.#until = from;
  }

  /** Takes in a step that the log holds at the offset. */
  learn(step: WebhookOut, offset: number): void {
    this.#until = offset + 1;
    if (step.action === 'created') this.#unfinished.add(nameOf(step));
    else if (isEnding(step)) this.#unfinished.delete(nameOf(step));
  }

  /** Whether the delivery that was asked for at the offset is over. */
  isFinished(of: Name, offset: number): boolean {
    const isInside = this.#from <= offset && offset < this.#until;
    return isInside && !this.#unfinished.has(nameOf(of));
  }
}

/**
 * The step that a message holds; null for a tombstone, and for one that can't be read: it is set aside when its
 * turn comes, and must keep nobody from looking at the others.
 */
export function readableStep(
  codec: Codec<WebhookOut>,
  value: Uint8Array | null,
): WebhookOut | null {
  if (value === null) return null;
  try {
    return codec.decode(value);
  } catch {
    return null;
  }
}

/** A failed attempt without a next one is the last. */
const endings = new Set<string>(['attempt_succeeded', 'attempt_failed', 'exhausted', 'cancelled']);
const isEnding = ({ action, next_attempt_at: next }: WebhookOut): boolean =>
  endings.has(action) && !(action === 'attempt_failed' && next !== null);
const nameOf = ({ message_id, endpoint_id }: Name): string => `${message_id}/${endpoint_id}`;
