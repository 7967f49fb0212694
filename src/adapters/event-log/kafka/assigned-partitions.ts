import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupHandler } from '../../../ports/event-log.ts';

/** How long a member may take to release a partition (ports/event-log.ts). */
const releaseTimeoutMs = 10_000;

/** The partition numbers of a member; calls its handler sequentially. */
export class AssignedPartitions {
  private readonly handler: GroupHandler;
  private readonly onReleased: () => void;
  private readonly holding = new Set<number>();
  private readonly releasing = new Set<number>();
  private calls: Promise<void> = Promise.resolve();
  private change = Promise.withResolvers<undefined>();

  /** `onReleased` is called when work has ended on numbers that other members may then have. */
  constructor(handler: GroupHandler, onReleased: () => void) {
    this.handler = handler;
    this.onReleased = onReleased;
  }

  /** Numbers that no other member may process. */
  get held(): number[] {
    return [...this.holding, ...this.releasing].sort((a, b) => a - b);
  }

  /** Resolves when work on some numbers has ended. */
  changed(): Promise<undefined> {
    return this.change.promise;
  }

  /** The whole assignment; a number that is being released is assigned again later. */
  assigned(numbers: readonly number[], generation: number): void {
    const lost = [...this.holding].filter((number) => !numbers.includes(number));
    const gained = numbers.filter(
      (number) => !this.holding.has(number) && !this.releasing.has(number),
    );
    if (lost.length > 0) void this.release(lost).then(() => this.released());
    if (gained.length === 0) return;
    for (const number of gained) this.holding.add(number);
    this.calls = this.calls.then(() => this.handler.assigned(gained, generation));
  }

  /** All numbers are lost. Resolves when the work has ended, or after 10 s. */
  async revokeAll(): Promise<void> {
    if (this.holding.size > 0) await this.release([...this.holding]);
    else await Promise.race([this.calls, sleep(releaseTimeoutMs, undefined, { ref: false })]);
  }

  private async release(numbers: readonly number[]): Promise<void> {
    for (const number of numbers) {
      this.holding.delete(number);
      this.releasing.add(number);
    }
    this.calls = this.calls.then(() => this.handler.revoked(numbers));
    await Promise.race([this.calls, sleep(releaseTimeoutMs, undefined, { ref: false })]);
    for (const number of numbers) this.releasing.delete(number);
  }

  private released(): void {
    this.onReleased();
    this.change.resolve(undefined);
    this.change = Promise.withResolvers();
  }
}
