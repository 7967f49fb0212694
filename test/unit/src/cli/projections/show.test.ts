import { describe, expect, it } from 'vitest';
import {
  durationText,
  progressLine,
  sizeText,
  tableLines,
  verificationLines,
} from '#cli/projections/show.ts';

describe('the line of progress', () => {
  const progress = { phase: 'building', share: 0.5, perSecond: 20_000.4, secondsLeft: 64.2 };

  it('has a bar where somebody watches', () => {
    expect(progressLine(progress, true)).toBe(
      'building  [############------------]  50 %  20000/s  1 min 5 s left',
    );
  });

  it('is plain elsewhere, and leaves out what is not known', () => {
    expect(progressLine({ ...progress, perSecond: null, secondsLeft: null }, false)).toBe(
      'building  50 %',
    );
  });

  it('never says 100 % before the end', () => {
    expect(progressLine({ ...progress, share: 0.9999 }, true)).toContain('] ' + ' 99 %');
  });

  it.each([
    [0.2, '1 s'],
    [59.5, '1 min 0 s'],
    [3_599, '59 min 59 s'],
    [7_260, '2 h 1 min'],
  ])('says %f s as %s', (seconds, text) => expect(durationText(seconds)).toBe(text));
});

describe('the table of projections', () => {
  const generation = {
    generation: 1,
    state: 'active',
    is_paused: false,
    schema_version: 1,
    pace_percent: 75,
    tables: ['records_g1'],
    partitions: [],
    rows: 5,
    bytes: 1_234_567,
    position: 9,
    end: 10,
    lag: 1,
    progress: 0.9,
    rate_per_s: null,
    seconds_left: null,
    requested_at: null,
    ready_at: null,
    switched_at: null,
    failure: null,
    new_failures: null,
    verification: null,
  };

  it('has a line for each generation, its numbers to the right', async () => {
    const beside = { ...generation, generation: 12, state: 'building', is_paused: true };
    const shown = { ...generation, name: 'records', topic: 't', active_generation: 1 };
    const lines = await tableLines([
      { ...shown, latest_schema_version: 1, generations: [generation, beside] },
    ]);
    expect(lines).toEqual([
      'projection  generation  state             schema  position  end  lag  rows    size',
      'records     1           active                 1         9   10    1     5  1.2 MB',
      'records     12          building, paused       1         9   10    1     5  1.2 MB',
    ]);
  });

  it.each([
    [999, '999 B'],
    [1_000, '1.0 KB'],
    [2_500_000_000_000_000, '2500.0 TB'],
  ])('says %i bytes as %s', (bytes, text) => expect(sizeText(bytes)).toBe(text));

  it('names the streams that differ', () => {
    const example = {
      table: 'records_g2',
      partition: 3,
      stream: '77',
      expected_rows: 5,
      found_rows: 4,
      expected_last_position: 9,
      found_last_position: 8,
    };
    const lines = verificationLines({
      id: 'v',
      state: 'differs',
      against: 1,
      requested_at: '2026-01-01T00:00:00.000Z',
      failure: null,
      streams: 2,
      expected_rows: 10,
      found_rows: 9,
      differences: 1,
      examples: [example],
    });
    expect(lines).toEqual([
      '1 differences: 2 streams, 10 and 9 records.',
      '  records_g2, partition 3, stream 77: 5 rows are read, 4 were built',
    ]);
  });
});
