import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { isoMillis } from '../../../kernel/time.ts';
import { missingRoots } from '../vault/open-vault.ts';
import { outdatedKeys, type RootKeyFacts } from './handlers.ts';

export const rootKeysShape = data(
  z
    .strictObject({
      sealing: z.string(),
      root_keys: z.array(
        z.strictObject({
          id: z.string(),
          known: z.boolean(),
          data_keys: z.int(),
          removable: z.boolean(),
        }),
      ),
      rewrap: z
        .strictObject({
          id: z.string(),
          root_key: z.string(),
          state: z.enum(['running', 'ended']),
          total: z.int(),
          done: z.int(),
          by: z.string(),
          ordered_at: timestamp,
          ended_at: timestamp.nullable(),
        })
        .nullable(),
    })
    .meta({ id: 'RootKeys' }),
);

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
