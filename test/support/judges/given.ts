import { expect } from 'vitest';
import type { Decider } from '#kernel/decider.ts';
import type { ErrorCode } from '#kernel/errors.ts';

/** A rule in the words given / when / then: facts, a command, facts. */
export function given<S, C, E>(decider: Decider<S, C, E>, ...facts: readonly E[]) {
  const state = facts.reduce<S>((known, fact) => decider.evolve(known, fact), decider.initial);
  return {
    state,
    when(command: C) {
      return {
        then: (...expected: readonly unknown[]): void => {
          expect(decider.decide(command, state)).toEqual(expected);
        },
        refused: (code: ErrorCode): void => {
          expect(() => decider.decide(command, state)).toThrow(expect.objectContaining({ code }));
        },
        /** The state after what follows from the command. */
        state: (): S =>
          decider
            .decide(command, state)
            .reduce<S>((known, fact) => decider.evolve(known, fact), state),
      };
    },
  };
}
