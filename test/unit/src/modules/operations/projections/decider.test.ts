import { describe, expect, it } from 'vitest';
import { projection, type ProjectionCommand } from '#modules/operations/projections/decider.ts';
import type {
  PartitionProgress,
  Projection,
  VerifiedPart,
} from '#streams/projector/projection-state.ts';

const name = 'records';
const at = 1_000;

/** Leaves out the fields that every command has. */
type Asked = ProjectionCommand extends infer C
  ? C extends ProjectionCommand
    ? Omit<C, 'name' | 'at'>
    : never
  : never;

/** The state after the commands, each decided on what the ones before led to. */
function after(...commands: readonly Asked[]): Projection | null {
  return commands.reduce<Projection | null>((state, command) => {
    const events = projection.decide({ ...command, name, at }, state);
    return events.reduce((before, event) => projection.evolve(before, event), state);
  }, null);
}

const eventsOf = (state: Projection | null, command: Asked): string[] =>
  projection.decide({ ...command, name, at }, state).map(({ type }) => type);

const generation = (state: Projection | null, number: number) =>
  state?.generations.find((one) => one.number === number);

const rebuild = { type: 'Rebuild', schemaVersion: 1, partitions: 2, pacePercent: 75 } as const;
const place = (isCaughtUp: boolean): PartitionProgress => ({
  start: 0,
  next: 5,
  end: 9,
  isCaughtUp,
});
const progress = (places: Readonly<Record<string, PartitionProgress>>) =>
  ({ type: 'ReportProgress', generation: 2, places, rows: 10 }) as const;
const caughtUp = progress({ 0: place(true), 1: place(true) });
const verify = { type: 'Verify', id: 'v1' } as const;
const part = (differences: number): VerifiedPart => {
  return { position: 5, streams: 1, expectedRows: 1, foundRows: 1, differences, examples: [] };
};
const verified = (parts: Readonly<Record<string, VerifiedPart>>, id = 'v1') =>
  ({ type: 'ReportVerified', generation: 2, id, parts }) as const;
const equal = verified({ 0: part(0), 1: part(0) });
const change = { type: 'Switch', isForced: false } as const;

const refuses = (state: Projection | null, command: Asked, code = 'conflict') =>
  expect(() => eventsOf(state, command)).toThrow(expect.objectContaining({ code }) as Error);

describe('a projection of which nobody has asked anything', () => {
  it('has its first generation read, and nothing to compare, switch to or go back to', () => {
    for (const command of [verify, change, { type: 'RollBack' } as const]) refuses(null, command);
    refuses(null, { type: 'Retire', generation: 1 });
    refuses(null, { type: 'Pause', generation: 7 }, 'not_found');
  });

  it('is rebuilt as the second generation, beside the first', () => {
    const state = after(rebuild);
    expect(state).toMatchObject({ active: 1, last: 2, partitions: 2 });
    expect(generation(state, 2)).toMatchObject({ state: 'building', pacePercent: 75 });
  });
});

describe('a generation that is being built', () => {
  it('is ready when every partition has caught up, in one report or in several', () => {
    expect(generation(after(rebuild, progress({ 0: place(true) })), 2)?.state).toBe('building');
    expect(
      generation(after(rebuild, progress({ 0: place(true), 1: place(false) })), 2)?.state,
    ).toBe('building');
    const parts = after(rebuild, progress({ 0: place(true) }), progress({ 1: place(true) }));
    expect(generation(parts, 2)).toMatchObject({ state: 'ready', readyAt: at, rows: 10 });
    expect(generation(after(rebuild, caughtUp), 2)?.state).toBe('ready');
  });

  it('is the only one beside the active one, and cannot be compared or switched to yet', () => {
    const state = after(rebuild);
    for (const command of [rebuild, verify, change]) refuses(state, command);
    refuses(state, { type: 'Switch', isForced: true });
  });

  it('is what is paused and resumed when no generation is named', () => {
    const paused = after(rebuild, { type: 'Pause', generation: null });
    expect(generation(paused, 2)?.isPaused).toBe(true);
    expect(generation(paused, 1)?.isPaused).toBe(false);
    expect(eventsOf(paused, { type: 'Pause', generation: 2 })).toEqual([]);
    expect(eventsOf(paused, { type: 'Resume', generation: null })).toEqual(['GenerationResumed']);
  });

  it('may fail, and is dropped then; reports that come late say nothing', () => {
    const failed = after(rebuild, { type: 'ReportFailure', generation: 2, code: 'server_error' });
    expect(generation(failed, 2)).toMatchObject({ state: 'failed', failure: 'server_error' });
    expect(eventsOf(failed, caughtUp)).toEqual([]);
    const retiring = after(
      rebuild,
      { type: 'ReportFailure', generation: 2, code: 'server_error' },
      { type: 'Retire', generation: 2 },
    );
    expect(generation(retiring, 2)?.state).toBe('retiring');
    refuses(retiring, rebuild);
    expect(eventsOf(retiring, { type: 'ReportRetired', generation: 2 })).toEqual([
      'GenerationRetired',
    ]);
  });
});

describe('a generation that has caught up', () => {
  it('is switched to once it was compared without a difference', () => {
    refuses(after(rebuild, caughtUp), change);
    refuses(after(rebuild, caughtUp, verify), change);
    refuses(after(rebuild, caughtUp, verify, verified({ 0: part(0) })), change);
    refuses(after(rebuild, caughtUp, verify, verified({ 0: part(0), 1: part(3) })), change);
    const state = after(rebuild, caughtUp, verify, equal, change);
    expect(state?.active).toBe(2);
    expect(generation(state, 2)).toMatchObject({ state: 'active', switchedAt: at });
    expect(generation(state, 1)).toMatchObject({ state: 'kept', switchedAt: at });
  });

  it('is switched to without that when forced', () => {
    expect(after(rebuild, caughtUp, { type: 'Switch', isForced: true })?.active).toBe(2);
  });

  it('is switched to without that when the active one is damaged', () => {
    const failure = { type: 'ReportVerificationFailed', generation: 2, id: 'v1' } as const;
    const damaged = { ...failure, code: 'projection_damaged' };
    expect(after(rebuild, caughtUp, verify, damaged, change)?.active).toBe(2);
  });

  it('is compared once at a time; the outcome of an earlier comparison does not count', () => {
    const running = after(rebuild, caughtUp, verify);
    refuses(running, verify);
    expect(eventsOf(running, verified({ 0: part(0) }, 'earlier'))).toEqual([]);
    const failed = after(rebuild, caughtUp, verify, {
      type: 'ReportVerificationFailed',
      generation: 2,
      id: 'v1',
      code: 'projection_unavailable',
    });
    refuses(failed, change);
    expect(eventsOf(failed, { type: 'Verify', id: 'v2' })).toEqual(['VerificationRequested']);
  });

  it('changes no places while one of the two is paused', () => {
    const paused = after(rebuild, caughtUp, { type: 'Pause', generation: 2 });
    refuses(paused, verify);
    refuses(paused, { type: 'Switch', isForced: true });
  });
});

describe('after a switch', () => {
  const switched = [rebuild, caughtUp, verify, equal, change] as const;

  it('can be rolled back, and back again', () => {
    const back = after(...switched, { type: 'RollBack' });
    expect(back?.active).toBe(1);
    expect(generation(back, 2)?.state).toBe('kept');
    expect(after(...switched, { type: 'RollBack' }, { type: 'RollBack' })?.active).toBe(2);
    refuses(after(...switched), change);
  });

  it('cannot be once the former generation is dropped; numbers are not used again', () => {
    const retiring = after(...switched, { type: 'Retire', generation: 1 });
    refuses(retiring, { type: 'RollBack' });
    refuses(after(...switched), { type: 'Retire', generation: 2 });
    const next = after(
      ...switched,
      { type: 'Retire', generation: 1 },
      { type: 'ReportRetired', generation: 1 },
      rebuild,
    );
    expect(next?.generations.map(({ number }) => number)).toEqual([2, 3]);
  });

  it('refuses another rebuild while the former generation is kept', () => {
    refuses(after(...switched), rebuild);
  });
});

describe('the first generation of a new projection', () => {
  const begin = { type: 'Begin', schemaVersion: 1, partitions: 2, pacePercent: 75 } as const;
  const filled = { ...caughtUp, generation: 1 } as const;
  const replace = { ...begin, type: 'Replace', schemaVersion: 2 } as const;

  it('is read while it is built, and stays active when it has caught up', () => {
    const state = after(begin);
    expect(state).toMatchObject({ active: 1, last: 1, partitions: 2 });
    expect(generation(state, 1)).toMatchObject({ state: 'building', pacePercent: 75 });
    const whole = after(begin, filled);
    expect(whole?.active).toBe(1);
    expect(generation(whole, 1)).toMatchObject({ state: 'active', readyAt: at, switchedAt: null });
  });

  it('can be paused meanwhile, and neither dropped, rebuilt, begun once more nor failed', () => {
    const state = after(begin);
    expect(generation(after(begin, { type: 'Pause', generation: null }), 1)?.isPaused).toBe(true);
    refuses(state, { type: 'Retire', generation: 1 });
    refuses(state, rebuild);
    refuses(state, begin);
    expect(eventsOf(state, { type: 'ReportFailure', generation: 1, code: 'x' })).toEqual([]);
  });

  it('is dropped, not kept, when it is replaced before it was whole', () => {
    const replaced = after(begin, replace, caughtUp);
    expect(replaced?.active).toBe(2);
    expect(generation(replaced, 1)?.state).toBe('retiring');
    refuses(replaced, { type: 'RollBack' });
    expect(generation(after(begin, filled, replace, caughtUp), 1)?.state).toBe('kept');
  });
});

describe('a generation that replaces the active one', () => {
  const replace = { ...rebuild, type: 'Replace', schemaVersion: 2 } as const;

  it('does so once it has caught up, and not while it fails where the active one does not', () => {
    expect(after(replace, { ...caughtUp, newFailures: 0 })?.active).toBe(2);
    const held = after(replace, { ...caughtUp, newFailures: 3 });
    expect(held?.active).toBe(1);
    expect(generation(held, 2)).toMatchObject({ state: 'ready', newFailures: 3 });
    expect(
      after(replace, { ...caughtUp, newFailures: 3 }, { type: 'Switch', isForced: true }),
    ).toMatchObject({
      active: 2,
    });
  });

  it('is dropped for the next one', () => {
    const next = after(replace, { ...caughtUp, newFailures: 3 }, { ...replace, schemaVersion: 3 });
    expect(next).toMatchObject({
      active: 1,
      generations: [{ state: 'active' }, { state: 'retiring' }, { state: 'building' }],
    });
  });
});
