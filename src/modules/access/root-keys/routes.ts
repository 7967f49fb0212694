import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { askOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { json, data, timestamp } from '#http/responses.ts';
import { isoMillis, isoMillisOrNull } from '#kernel/time.ts';
import { defineRoute } from '../services.ts';
import { missingRoots } from '../vault/open-vault.ts';
import { orderRewrap, rootKeyFacts, outdatedKeys, type RootKeyFacts } from './handlers.ts';
import type { Rewrap } from './rewrap-order.ts';

/** `left`: number of keys that are still to be rewrapped. */
const shownRewrap = representation<Rewrap & { readonly left: number }>()({
  id: z.string().describe('Id of the rewrap.'),
  root_key: [
    z.string().describe('Id of the root key that wraps the data keys from now on.'),
    ({ rootKeyId }) => rootKeyId,
  ],
  state: [
    z.enum(['running', 'ended']).describe('Whether the rewrap is at work.'),
    ({ endedAt }) => (endedAt === null ? 'running' : 'ended'),
  ],
  total: z.int().describe('Data keys that are to be wrapped.'),
  // Keys that a process with another first root key created concurrently are not in the total.
  done: [
    z.int().describe('Data keys that are wrapped already.'),
    ({ endedAt, total, left }) => (endedAt === null ? Math.max(0, total - left) : total),
  ],
  by: z.string(),
  ordered_at: [
    timestamp.describe('Time of the request (RFC 3339).'),
    ({ orderedAt }) => isoMillis(orderedAt),
  ],
  ended_at: [timestamp.nullable(), ({ endedAt }) => isoMillisOrNull(endedAt)],
});

const rootKey = z.strictObject({
  id: z.string().describe('Id of the root key: a fingerprint.'),
  known: z.boolean().describe('Whether this process has the key.'),
  data_keys: z.int().describe('Number of data keys that it wraps.'),
  removable: z
    .boolean()
    .describe('Whether it wraps nothing, so that it can be removed from the settings.'),
});

/** Root keys by id, without key material. */
const rootKeys = representation<RootKeyFacts>()({
  sealing: [
    z.string().describe('Id of the root key that wraps new data keys.'),
    ({ use }) => use.sealing,
  ],
  root_keys: [
    z.array(rootKey).describe('The root keys: those of the settings, then missing ones.'),
    ({ use }) => [...knownKeys(use), ...missingKeys(use)],
  ],
  rewrap: [
    shownRewrap.schema.nullable().describe('The last rewrap; null without one.'),
    ({ use, rewrap: last }) =>
      last === null ? null : shownRewrap.of({ ...last, left: outdatedKeys(use, last.rootKeyId) }),
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

const rootKeysShape = data(rootKeys.schema.meta({ id: 'RootKeys' }));
const presentRootKeys = rootKeys.of;

const show = defineRoute({
  method: 'GET',
  path: '/root-keys',
  credential: 'account',
  scopes: ['account:root-keys:read'],
  summary: 'List the root keys.',
  description: 'With the number of data keys that each wraps, and the progress of a rewrap.',
  answers: { 200: json('The root keys.', rootKeysShape) },
  errors: [],
  async handle({ services }) {
    return { status: 200, body: { data: presentRootKeys(await rootKeyFacts(services)) } };
  },
});

const rewrapRoute = defineRoute({
  method: 'POST',
  path: '/root-keys/rewrap',
  credential: 'account',
  scopes: ['account:root-keys:write'],
  summary: 'Start to wrap every data key with the first root key.',
  description: 'Reads and writes go on.',
  answers: { 202: json('It has begun.', rootKeysShape) },
  errors: [],
  async handle(input) {
    const facts = await orderRewrap(input.services, askOptions(input));
    return { status: 202, body: { data: presentRootKeys(facts) } };
  },
});

export const rootKeyRoutes: readonly AnyRoute[] = [show, rewrapRoute];
