import { describe, expect, it } from 'vitest';
import { projections } from '#app/process/projections.ts';
import { presentProjection } from '#modules/operations/projections/presenter.ts';
import { untouched, type Generation } from '#streams/projector/projection-state.ts';

const startedAt = 1_000_000;

/** The second generation, of which 300 of 1,200 messages have been read. */
function shown(more: Partial<Generation>, now: number) {
  const projection = untouched('records');
  const [first] = projection.generations;
  const generation = { ...first!, number: 2, requestedAt: startedAt, ...more };
  const partitions = [
    { partition: 0, start: 100, position: 300, end: 1_100 },
    { partition: 1, start: 0, position: 100, end: 200 },
  ];
  const figures = { generation, tables: ['records_g2'], partitions, rows: 5, bytes: 7 };
  const { generations } = presentProjection(
    { of: projections[0]!, projection, generations: [figures] },
    now,
  );
  return generations[0]!;
}

describe('a generation that is being built', () => {
  it('shows its speed since the start, and how long the rest takes', () => {
    expect(shown({ state: 'building' }, startedAt + 2_000)).toMatchObject({
      position: 400,
      end: 1_300,
      lag: 900,
      progress: 0.25,
      rate_per_s: 150,
      seconds_left: 6,
    });
  });

  it('shows no end while it is paused', () => {
    const paused = shown({ state: 'building', isPaused: true }, startedAt + 2_000);
    expect(paused).toMatchObject({ progress: 0.25, seconds_left: null });
  });

  it('shows no speed once it is built', () => {
    const ready = shown({ state: 'ready' }, startedAt + 2_000);
    expect(ready).toMatchObject({ rate_per_s: null, seconds_left: null });
  });
});
