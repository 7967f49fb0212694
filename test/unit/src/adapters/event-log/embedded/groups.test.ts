import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Groups, releaseTimeoutMs, type MemberLink } from '#adapters/event-log/embedded/groups.ts';

/** Records the notifications of a member; releases only when the test says so. */
class Link implements MemberLink {
  readonly held = new Set<number>();
  readonly tickets: number[] = [];
  lastGeneration = 0;

  assigned({ partitions, generation }: Parameters<MemberLink['assigned']>[0]): void {
    for (const partition of partitions) this.held.add(partition);
    this.lastGeneration = generation;
  }

  revoked({ partitions, ticket }: Parameters<MemberLink['revoked']>[0]): void {
    for (const partition of partitions) this.held.delete(partition);
    this.tickets.push(ticket);
  }
}

const request = (member: string, ...topics: string[]) => ({ member, group: 'g', topics });

describe('the groups of the log thread', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('wait for a release, but no longer than ten seconds', () => {
    const groups = new Groups();
    const [a, b] = [new Link(), new Link()];
    groups.join(request('a', 't'), 4, a);
    groups.join(request('b', 't'), 4, b);
    expect([a.held.size, b.held.size]).toEqual([2, 0]);
    vi.advanceTimersByTime(releaseTimeoutMs - 1);
    expect(b.held.size).toBe(0);
    vi.advanceTimersByTime(1);
    expect([a.held.size, b.held.size]).toEqual([2, 2]);
    groups.released('a', a.tickets[0] ?? 0);
    expect([a.held.size, b.held.size]).toEqual([2, 2]);
  });

  it('give what a lost member held to the others at once', () => {
    const groups = new Groups();
    const [a, b] = [new Link(), new Link()];
    groups.join(request('a', 't'), 4, a);
    groups.join(request('b', 't'), 4, b);
    groups.leave('a');
    expect([...b.held].sort()).toEqual([0, 1, 2, 3]);
  });

  it('give a partition back to its holder when the newcomer is gone before the release', () => {
    const groups = new Groups();
    const [a, b] = [new Link(), new Link()];
    groups.join(request('a', 't'), 2, a);
    const before = a.lastGeneration;
    groups.join(request('b', 't'), 2, b);
    groups.leave('b');
    groups.released('a', a.tickets[0] ?? 0);
    expect(a.held.size).toBe(2);
    expect(a.lastGeneration).toBeGreaterThan(before);
  });

  it('count generations on when everybody left and somebody comes', () => {
    const groups = new Groups();
    const [a, b] = [new Link(), new Link()];
    groups.join(request('a', 't'), 2, a);
    groups.leave('a');
    groups.join(request('b', 'other'), 2, b);
    expect(b.lastGeneration).toBeGreaterThan(a.lastGeneration);
  });

  it('refuse a member with other topics', () => {
    const groups = new Groups();
    groups.join(request('a', 't', 'u'), 2, new Link());
    groups.join(request('b', 'u', 't'), 2, new Link());
    expect(() => groups.join(request('c', 't'), 2, new Link())).toThrow(
      expect.objectContaining({ code: 'conflict' }),
    );
  });
});
