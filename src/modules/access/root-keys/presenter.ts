import { isoMillis } from '../../../kernel/time.ts';
import { missingRoots } from '../vault/open-vault.ts';
import { outdatedKeys, type RootKeyFacts } from './handlers.ts';

/** Root keys by id, without key material. */
export function presentRootKeys({ use, rewrap }: RootKeyFacts) {
  const { sealing, known, wrapped } = use;
  const ref = (id: string) => wrapped.get(id) ?? 0;
  return {
    sealing,
    root_keys: [
      ...known.map((id) => ({
        id,
        known: true,
        data_keys: ref(id),
        removable: id !== sealing && ref(id) === 0,
      })),
      ...missingRoots(use).map(({ id, keys }) => {
        return { id, known: false, data_keys: keys, removable: false };
      }),
    ],
    rewrap: rewrap === null ? null : presentRewrap(rewrap, outdatedKeys(use, rewrap.rootKeyId)),
  };
}

function presentRewrap(
  { id, rootKeyId, total, by, orderedAt, endedAt }: NonNullable<RootKeyFacts['rewrap']>,
  left: number,
) {
  return {
    id,
    root_key: rootKeyId,
    state: endedAt === null ? 'running' : 'ended',
    total,
    // Keys that a process with another first root key created concurrently are not in the total.
    done: endedAt === null ? Math.max(0, total - left) : total,
    by,
    ordered_at: isoMillis(orderedAt),
    ended_at: endedAt === null ? null : isoMillis(endedAt),
  };
}
