import { systemClock, type Clock } from '#kernel/time.ts';

/** The wall clock, which a test can put forward. */
export interface MovedClock extends Clock {
  forward(ms: number): void;
}

export function movedClock(): MovedClock {
  let ahead = 0;
  return {
    now: () => systemClock.now() + ahead,
    nowMicros: () => systemClock.nowMicros() + ahead * 1000,
    forward: (ms) => {
      ahead += ms;
    },
  };
}
