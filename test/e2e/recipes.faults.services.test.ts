import { describe, expect, it } from 'vitest';
import { playPostgres } from '../../examples/recipes/postgres/recipe.ts';

const report = (line: string): void => console.log(line);

describe('the recipes for data teams', () => {
  it('keep a table of PostgreSQL equal to the records, over a killed worker', async () => {
    const outcome = await playPostgres(report);
    expect(outcome.differences).toEqual([]);
    expect(outcome.records).toBeGreaterThan(1_000);
    expect(outcome).toMatchObject({ rows: outcome.records, deadLetters: 1 });
  });
});
