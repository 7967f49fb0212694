import { GatewayError } from '#kernel/errors.ts';
import { assignSticky } from '../sticky-assignment.ts';
import type { PartitionAssignment, JoinRequest, PartitionRevocation } from './protocol.ts';

/** How long a member may take to release a partition (ports/event-log.ts). */
export const releaseTimeoutMs = 10_000;

/** The connection to the thread of one client's members. */
export interface MemberLink {
  assigned(event: PartitionAssignment): void;
  revoked(event: PartitionRevocation): void;
}

interface Member {
  readonly id: string;
  readonly link: MemberLink;
  /** Pending revocations: the partitions and the timer that ends the wait. */
  readonly releasing: Map<
    number,
    { readonly partitions: number[]; readonly timer: NodeJS.Timeout }
  >;
}

/** Members of one process that share partition numbers: each number has at most one holder. */
class Group {
  readonly topics: string;
  readonly members = new Map<string, Member>();
  readonly #holders: (string | null)[];
  readonly #revoking = new Set<number>();
  generation: number;
  #lastTicket = 0;

  constructor(topics: string, partitions: number, generation: number) {
    this.topics = topics;
    this.generation = generation;
    this.#holders = Array.from({ length: partitions }, () => null);
  }

  join(id: string, link: MemberLink): void {
    this.members.set(id, { id, link, releasing: new Map() });
    this.#rebalance();
  }

  /** The member's partitions are free at once: it has ended its work, or its thread is gone. */
  leave(id: string): void {
    const member = this.members.get(id);
    if (member === undefined) return;
    for (const { timer } of member.releasing.values()) clearTimeout(timer);
    this.members.delete(id);
    this.#holders.forEach((holder, partition) => {
      if (holder === id) this.#free(partition);
    });
    this.#rebalance();
  }

  released(id: string, ticket: number): void {
    const member = this.members.get(id);
    const release = member?.releasing.get(ticket);
    if (release === undefined) return;
    member?.releasing.delete(ticket);
    clearTimeout(release.timer);
    for (const partition of release.partitions) this.#free(partition);
    this.#rebalance();
  }

  #free(partition: number): void {
    this.#holders[partition] = null;
    this.#revoking.delete(partition);
  }

  #rebalance(): void {
    const wanted = assignSticky(this.#holders, [...this.members.keys()]);
    const assignments = new Map<string, number[]>();
    const taken = new Map<string, number[]>();
    wanted.forEach((member, partition) => {
      const holder = this.#holders[partition] ?? null;
      if (holder === null && member !== null) push(assignments, member, partition);
      else if (holder !== null && holder !== member && !this.#revoking.has(partition)) {
        push(taken, holder, partition);
      }
    });
    for (const [id, partitions] of taken) this.#revoke(id, partitions);
    if (assignments.size > 0) this.generation++;
    for (const [id, partitions] of assignments) {
      for (const partition of partitions) this.#holders[partition] = id;
      const { generation } = this;
      this.members.get(id)?.link.assigned({ member: id, partitions, generation });
    }
  }

  #revoke(id: string, partitions: number[]): void {
    const member = this.members.get(id);
    if (member === undefined) return;
    const ticket = ++this.#lastTicket;
    for (const partition of partitions) this.#revoking.add(partition);
    const timer = setTimeout(() => this.released(id, ticket), releaseTimeoutMs);
    timer.unref();
    member.releasing.set(ticket, { partitions, timer });
    member.link.revoked({ member: id, partitions, ticket });
  }
}

function push(map: Map<string, number[]>, key: string, value: number): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

export class Groups {
  readonly #groups = new Map<string, Group>();
  readonly #groupOf = new Map<string, Group>();

  /** @throws GatewayError `conflict` when the group has other topics. */
  join(request: JoinRequest, partitions: number, link: MemberLink): void {
    const topics = [...request.topics].sort().join(' ');
    let group = this.#groups.get(request.group);
    if (group === undefined || group.members.size === 0) {
      group = new Group(topics, partitions, group?.generation ?? 0);
      this.#groups.set(request.group, group);
    }
    if (group.topics !== topics) {
      const message = `The group ${request.group} has members with other topics.`;
      throw new GatewayError('conflict', { message });
    }
    this.#groupOf.set(request.member, group);
    group.join(request.member, link);
  }

  leave(member: string): void {
    this.#groupOf.get(member)?.leave(member);
    this.#groupOf.delete(member);
  }

  released(member: string, ticket: number): void {
    this.#groupOf.get(member)?.released(member, ticket);
  }
}
