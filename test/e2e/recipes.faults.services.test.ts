import { describe, expect, it } from 'vitest';
import { playDebezium } from '../../examples/recipes/debezium/recipe.ts';
import { playDuckdb } from '../../examples/recipes/duckdb/recipe.ts';
import { playFlink } from '../../examples/recipes/flink/recipe.ts';
import { playPostgres } from '../../examples/recipes/postgres/recipe.ts';
import { playStreams } from '../../examples/recipes/streams/recipe.ts';

const report = (line: string): void => console.log(line);

/** They fetch what they start, and wait for several processes. */
const timeout = 900_000;

describe('the recipes for data teams', { timeout }, () => {
  it('keep a table of PostgreSQL equal to the records, over a killed worker', async () => {
    const outcome = await playPostgres(report);
    expect(outcome.differences).toEqual([]);
    expect(outcome.records).toBeGreaterThan(1_000);
    expect(outcome).toMatchObject({ rows: outcome.records, deadLetters: 1 });
  });

  it("give Debezium's transforms old rows, structured keys and nanoseconds", async () => {
    const outcome = await playDebezium(report);
    expect(outcome).toMatchObject({ records: 50, differences: [], mistakes: [], deadLetters: 0 });
  });

  it('keep tables of a Kafka Streams program equal to the records, over a killed program', async () => {
    expect(await playStreams(report)).toEqual({ records: 800, differences: [] });
  });

  it('give Flink SQL the current records by old rows', async () => {
    expect(await playFlink(report)).toEqual({ records: 360, differences: [] });
  });

  it('give DuckDB the records in a Parquet file', async () => {
    expect(await playDuckdb(report)).toEqual({ records: 800, differences: [] });
  });
});
