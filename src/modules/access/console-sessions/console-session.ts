import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { KeyName } from '../console-codes/console-code.ts';

/**
 * A browser that is signed in to the console. Kind `console-session`, scope `account`, path [id]. Index `hash` = keyed
 * hash of the token in its cookie, which is not stored. Secrets of keys are not in it.
 */
export interface ConsoleSession {
  readonly id: string;
  readonly hash: string;
  /** At most one of the account; none in the session of a person. */
  readonly keys: readonly SessionKeyName[];
  /** Id of the person who is signed in; absent in a session of keys. */
  readonly personId?: string;
  /** Absent in sessions of earlier releases. */
  readonly browser?: BrowserSummary;
  readonly createdAt: Instant;
  /** Its last use as noted: every `limits.consoleSessionNotedMs`. */
  readonly usedAt: Instant;
}

/** A key of a session. */
export interface SessionKeyName extends KeyName {
  /** When the session got it; absent in sessions of before the rotation of keys. */
  readonly addedAt?: Instant;
}

/** By what people recognize their sessions. */
export interface BrowserSummary {
  /** `Firefox on Linux`; null: not known. */
  readonly name: string | null;
  /** Network of the sign-in: /24 of IPv4, /48 of IPv6. */
  readonly ipPrefix: string | null;
}

export type ConsoleSessionEvent =
  | { readonly type: 'SessionCreated'; readonly session: ConsoleSession }
  | { readonly type: 'KeysChanged'; readonly keys: readonly SessionKeyName[]; readonly at: Instant }
  | { readonly type: 'SessionUsed'; readonly usedAt: Instant }
  | { readonly type: 'SessionEnded' };

/** The session of the same browser that a new one replaces; null: none, or it has ended. */
export interface CreateFacts {
  readonly replaced: ConsoleSession | null;
}

/** `at` is the owner's time. */
export type ConsoleSessionCommand =
  | ({
      readonly type: 'Create';
      readonly id: string;
      readonly hash: string;
      readonly keys: readonly KeyName[];
      /** Id of the person who signs in, without keys. */
      readonly personId?: string | undefined;
      readonly browser?: BrowserSummary | undefined;
      /** Id of the session that the browser has. */
      readonly replaces?: string | undefined;
      readonly at: Instant;
    } & CreateFacts)
  | { readonly type: 'RemoveKey'; readonly keyId: string; readonly at: Instant }
  | { readonly type: 'ObserveUse'; readonly usedAt: Instant; readonly at: Instant }
  | { readonly type: 'End'; readonly at: Instant }
  | { readonly type: 'Tick'; readonly at: Instant };

export const consoleSession: Decider<
  ConsoleSession | null,
  ConsoleSessionCommand,
  ConsoleSessionEvent
> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Create') return created(command, state);
    if (state === null) return [];
    switch (command.type) {
      case 'RemoveKey': {
        const keys = state.keys.filter(({ id }) => id !== command.keyId);
        if (keys.length === state.keys.length) return [];
        if (keys.length === 0) return [{ type: 'SessionEnded' }];
        return [{ type: 'KeysChanged', keys, at: command.at }];
      }
      case 'ObserveUse':
        return command.usedAt <= state.usedAt
          ? []
          : [{ type: 'SessionUsed', usedAt: command.usedAt }];
      case 'End':
        return [{ type: 'SessionEnded' }];
      case 'Tick':
        return command.at < endOf(state) ? [] : [{ type: 'SessionEnded' }];
    }
  },

  evolve(state, event) {
    if (event.type === 'SessionCreated') return event.session;
    if (state === null || event.type === 'SessionEnded') return null;
    if (event.type === 'SessionUsed') return { ...state, usedAt: event.usedAt };
    return { ...state, keys: event.keys, usedAt: Math.max(state.usedAt, event.at) };
  },
};

function created(
  command: Extract<ConsoleSessionCommand, { type: 'Create' }>,
  state: ConsoleSession | null,
): ConsoleSessionEvent[] {
  if (state !== null) throw new GatewayError('conflict');
  const { id, hash, at, personId, browser } = command;
  const shown = browser === undefined ? {} : { browser };
  if (personId !== undefined) {
    // A person does not take over what others were signed in with.
    const session = { id, hash, keys: [], personId, ...shown, createdAt: at, usedAt: at };
    return [{ type: 'SessionCreated', session }];
  }
  const replaced = takenOver(command);
  const added = command.keys.map((key) => ({ ...key, addedAt: at }));
  const keys = bounded(withKeys(replaced?.keys ?? [], added));
  // Its keys do not outlive the time that their own sign-in gave them.
  const createdAt = replaced?.createdAt ?? at;
  const session = { id, hash, keys, ...shown, createdAt, usedAt: at };
  return [{ type: 'SessionCreated', session }];
}

/** The session of keys that goes over into the new one; null: none that lives. */
function takenOver({
  replaced,
  at,
}: Extract<ConsoleSessionCommand, { type: 'Create' }>): ConsoleSession | null {
  if (replaced === null || replaced.personId !== undefined) return null;
  return at < endOf(replaced) ? replaced : null;
}

/** @throws GatewayError `resource_capped` */
function bounded(keys: readonly SessionKeyName[]): readonly SessionKeyName[] {
  const max = limits.consoleSessionKeysMax;
  if (keys.length <= max) return keys;
  const message = `A console session holds at most ${max} keys; take one out first.`;
  throw new GatewayError('resource_capped', { message });
}

/** When the session ends: a while after its last use, and in any case a while after the sign-in. */
export const endOf = ({
  createdAt,
  usedAt,
}: Pick<ConsoleSession, 'createdAt' | 'usedAt'>): Instant =>
  Math.min(createdAt + limits.consoleSessionMs, usedAt + limits.consoleSessionIdleMs);

/** Adds keys: one of the account replaces the one before, and none is in the list twice. */
function withKeys(
  existing: readonly SessionKeyName[],
  added: readonly SessionKeyName[],
): readonly SessionKeyName[] {
  const account = added.filter(({ environmentUid }) => environmentUid === null).at(-1);
  const all = new Map([...existing, ...added].map((key) => [key.id, key]));
  return [...all.values()].filter(
    ({ environmentUid, id }) =>
      environmentUid !== null || account === undefined || id === account.id,
  );
}
