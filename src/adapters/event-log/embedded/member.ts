import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupHandler, Membership } from '#ports/event-log.ts';
import type { Peer } from '../../threads/rpc.ts';
import { releaseTimeoutMs } from './groups.ts';
import type { PartitionAssignment, PartitionRevocation } from './protocol.ts';

/** A member's side of a group: calls its handler, sequentially. */
export class Member implements Membership {
  readonly id: string;
  readonly group: string;
  readonly #peer: Peer;
  readonly #handler: GroupHandler;
  readonly #held = new Set<number>();
  #calls: Promise<void> = Promise.resolve();
  #leaving: Promise<void> | null = null;

  constructor(id: string, group: string, peer: Peer, handler: GroupHandler) {
    this.id = id;
    this.group = group;
    this.#peer = peer;
    this.#handler = handler;
  }

  /** Has left or is leaving: accepts no more partitions. */
  get isLeaving(): boolean {
    return this.#leaving !== null;
  }

  assigned({ partitions, generation }: PartitionAssignment): void {
    if (this.#leaving !== null) return;
    for (const partition of partitions) this.#held.add(partition);
    this.#calls = this.#calls.then(() => this.#handler.assigned(partitions, generation));
  }

  revoked({ partitions, ticket }: PartitionRevocation): void {
    if (this.#leaving !== null) return;
    for (const partition of partitions) this.#held.delete(partition);
    this.#calls = this.#calls
      .then(() => this.#handler.revoked(partitions))
      .finally(() => void this.#peer.call('released', [this.id, ticket]).catch(() => undefined));
  }

  /** The log has ended: nothing is held any longer. */
  lost(): void {
    this.#leaving ??= this.#revokeAll();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  async #leave(): Promise<void> {
    try {
      await Promise.race([this.#revokeAll(), sleep(releaseTimeoutMs, undefined, { ref: false })]);
    } finally {
      await this.#peer.call('leave', [this.id]).catch(() => undefined);
    }
  }

  async #revokeAll(): Promise<void> {
    await this.#calls;
    const partitions = [...this.#held].sort((a, b) => a - b);
    this.#held.clear();
    if (partitions.length > 0) await this.#handler.revoked(partitions);
  }
}
