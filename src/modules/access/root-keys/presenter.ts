import { z } from 'zod';
import { representation } from '../../../http/representation.ts';
import { data, timestamp } from '../../../http/responses.ts';
import { isoMillis, isoMillisOrNull } from '../../../kernel/time.ts';
import { missingRoots } from '../vault/open-vault.ts';
import { outdatedKeys, type RootKeyFacts } from './handlers.ts';
import type { Rewrap } from './state.ts';

/** `left`: number of keys that are still to be rewrapped. */
const rewrap = representation<Rewrap & { readonly left: number }>()({
  id: [z.string(), ({ id }) => id],
  root_key: [z.string(), ({ rootKeyId }) => rootKeyId],
  state: [z.enum(['running', 'ended']), ({ endedAt }) => (endedAt === null ? 'running' : 'ended')],
  total: [z.int(), ({ total }) => total],
  // Keys that a process with another first root key created concurrently are not in the total.
  done: [
    z.int(),
    ({ endedAt, total, left }) => (endedAt === null ? Math.max(0, total - left) : total),
  ],
  by: [z.string(), ({ by }) => by],
  ordered_at: [timestamp, ({ orderedAt }) => isoMillis(orderedAt)],
  ended_at: [timestamp.nullable(), ({ endedAt }) => isoMillisOrNull(endedAt)],
});

const rootKey = z.strictObject({
  id: z.string(),
  known: z.boolean(),
  data_keys: z.int(),
  removable: z.boolean(),
});

/** Root keys by id, without key material. */
const rootKeys = representation<RootKeyFacts>()({
  sealing: [z.string(), ({ use }) => use.sealing],
  root_keys: [z.array(rootKey), ({ use }) => [...knownKeys(use), ...missingKeys(use)]],
  rewrap: [
    rewrap.schema.nullable(),
    ({ use, rewrap: last }) =>
      last === null ? null : rewrap.of({ ...last, left: outdatedKeys(use, last.rootKeyId) }),
  ],
});

const knownKeys = ({ sealing, known, wrapped }: RootKeyFacts['use']) =>
  known.map((id) => {
    const keys = wrapped.get(id) ?? 0;
    return { id, known: true, data_keys: keys, removable: id !== sealing && keys === 0 };
  });

const missingKeys = (use: RootKeyFacts['use']) =>
  missingRoots(use).map(({ id, keys }) => {
    return { id, known: false, data_keys: keys, removable: false };
  });

export const rootKeysShape = data(rootKeys.schema.meta({ id: 'RootKeys' }));
export const presentRootKeys = rootKeys.of;
