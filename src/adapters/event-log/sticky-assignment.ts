/**
 * Distributes partitions over members: numbers differ by at most one, and a partition stays with its holder if
 * possible. `holders[p]` is the current holder of p, or null; the result has the same form, with members.
 */
export function assignSticky(
  holders: readonly (string | null)[],
  members: readonly string[],
): (string | null)[] {
  if (members.length === 0) return holders.map(() => null);
  const held = new Map(members.map((member) => [member, 0]));
  for (const holder of holders) {
    if (holder !== null && held.has(holder)) held.set(holder, (held.get(holder) ?? 0) + 1);
  }
  // Members that hold most get the remainder, which moves the fewest partitions.
  const ranked = [...members].sort((a, b) => (held.get(b) ?? 0) - (held.get(a) ?? 0));
  const share = Math.floor(holders.length / members.length);
  const odd = holders.length % members.length;
  const room = new Map(ranked.map((member, rank) => [member, share + (rank < odd ? 1 : 0)]));

  const take = (member: string | null): string | null => {
    const left = member === null ? 0 : (room.get(member) ?? 0);
    if (member === null || left === 0) return null;
    room.set(member, left - 1);
    return member;
  };
  const kept = holders.map(take);
  return kept.map((member) => member ?? take(ranked.find((m) => (room.get(m) ?? 0) > 0) ?? null));
}
