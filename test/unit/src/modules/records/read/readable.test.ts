import { describe, expect, it } from 'vitest';
import { changesEndOf } from '#modules/functions/runs/ledger/presenter.ts';
import type { StepRow } from '#modules/functions/runs/ledger/queries.ts';
import { changesEnd, createReadableRuns } from '#modules/records/read/readable.ts';
import { createPublication } from '#streams/projector/publication.ts';

const partitions = 3;
const place = (partition: number, offset: number) => ({ model: 'Contact', partition, offset });
const at = (...places: ReturnType<typeof place>[]) => ({ places });

/** A log whose topics end where the test says, and how far the tables have come. */
function readable() {
  const publication = createPublication();
  const ends: Record<string, number[]> = {
    'svc.runs.v1': [0, 0, 0],
    'svc.records.v1': [0, 0, 0],
  };
  const runs = createReadableRuns({
    log: { endOffsets: (topic) => Promise.resolve(ends[topic] ?? []) },
    reader: {
      published: (...args) => publication.published(...args),
      reached: () =>
        Promise.resolve(
          Array.from({ length: partitions }, (_, partition) => publication.next(partition)),
        ),
    },
  });
  return { runs, ends, advance: publication.advance.bind(publication) };
}

describe('what runs changed', () => {
  it('is waited for until it can be read', async () => {
    const { runs, advance } = readable();
    advance(0, 5);
    const asked = runs.soon([at(place(0, 5), place(1, 9)), at(place(0, 4)), at()]);
    let isAnswered = false;
    void asked.then(() => (isAnswered = true));
    advance(1, 8);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isAnswered).toBe(false);
    advance(1, 9);
    expect(await asked).toEqual([true, true, true]);
  });

  it('is said not to be readable where that takes longer, run by run', async () => {
    const { runs, advance } = readable();
    advance(0, 5);
    const ends = [at(place(0, 5)), at(place(0, 5), place(1, 1)), at(place(2, 1)), null];
    expect(await runs.soon(ends)).toEqual([true, false, false, null]);
  });

  it('is returned at once where no wait is allowed', async () => {
    const { runs, advance } = readable();
    const ends = [at(place(0, 5)), at(place(0, 5), place(1, 1)), at(), null];
    expect(await runs.now(ends)).toEqual([false, false, true, null]);
    advance(0, 5);
    expect(await runs.now(ends)).toEqual([true, false, true, null]);
    advance(1, 1);
    expect(await runs.now(ends)).toEqual([true, true, true, null]);
  });

  it('of a run of an earlier release lies before what the log had after its end', async () => {
    const { runs, ends, advance } = readable();
    const earlier = { reportedAt: { partition: 1, offset: 7 } };
    ends['svc.runs.v1'] = [0, 8, 0];
    ends['svc.records.v1'] = [4, 0, 2];
    expect(await runs.now([earlier])).toEqual([false]);
    advance(0, 4);
    expect(await runs.now([earlier])).toEqual([false]);
    advance(2, 2);
    expect(await runs.now([earlier])).toEqual([true]);
    // What others write meanwhile does not take it back.
    ends['svc.records.v1'] = [40, 0, 2];
    expect(await runs.now([earlier])).toEqual([true]);
    // A run that ended after that look needs another.
    const later = { reportedAt: { partition: 1, offset: 8 } };
    ends['svc.runs.v1'] = [0, 9, 0];
    expect(await runs.now([later])).toEqual([false]);
    advance(0, 40);
    expect(await runs.now([later, earlier])).toEqual([true, true]);
  });
});

describe('where the changes of a run end', () => {
  it('is known of what succeeded, and of what has a place for each model', () => {
    const positions = [place(0, 5)];
    const end = { models: ['Contact', 'Deal'], positions };
    expect(changesEnd({ ...end, status: 'succeeded' })).toEqual({ places: positions });
    expect(changesEnd({ ...end, status: 'failed' })).toBeNull();
    expect(changesEnd({ ...end, status: 'failed', models: ['Contact'] })).toEqual({
      places: positions,
    });
    expect(changesEnd({ ...end, status: 'cancelled', positions: [] })).toBeNull();
  });

  it('is read from the last step, also where it was written without places', () => {
    const step = (action: string, more: object): StepRow => ({
      run_id: 'r',
      at: '1',
      action,
      kind: 'sync',
      function: 'contacts',
      integration: 'crm',
      connection_id: 'c',
      variant: 'base',
      attempt: 1,
      log_partition: 1,
      log_offset: '7',
      step: JSON.stringify({ models: ['Contact'], ...more }),
    });
    const started = step('started', { positions: [] });
    const note = step('progress', { positions: [] });
    expect(changesEndOf([started, note])).toBeNull();
    const positions = [place(0, 5)];
    const whole = changesEndOf([started, step('succeeded', { positions }), note]);
    expect(whole).toEqual({ places: positions });
    const earlier = { reportedAt: { partition: 1, offset: 7 } };
    expect(changesEndOf([started, step('succeeded', {})])).toEqual(earlier);
    expect(changesEndOf([started, step('cancelled', {})])).toBeNull();
  });
});
