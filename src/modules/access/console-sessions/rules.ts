import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { KeyName } from '../console-codes/state.ts';
import type { ConsoleSession } from './state.ts';

/** When the session ends: a while after its last use, and in any case a while after the sign-in. */
export const endOf = ({
  createdAt,
  usedAt,
}: Pick<ConsoleSession, 'createdAt' | 'usedAt'>): Instant =>
  Math.min(createdAt + limits.consoleSessionMs, usedAt + limits.consoleSessionIdleMs);

/** Adds keys: one of the account replaces the one before, and none is in the list twice. */
export function withKeys(
  existing: readonly KeyName[],
  added: readonly KeyName[],
): readonly KeyName[] {
  const account = added.filter(({ environmentUid }) => environmentUid === null).at(-1);
  const all = new Map([...existing, ...added].map((key) => [key.id, key]));
  return [...all.values()].filter(
    ({ environmentUid, id }) =>
      environmentUid !== null || account === undefined || id === account.id,
  );
}
