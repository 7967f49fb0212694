/** `node examples/recipes/duckdb/run.ts`: the records in a Parquet file, read by DuckDB. */
import { endWith } from '../differences.ts';
import { playDuckdb } from './recipe.ts';

endWith((await playDuckdb((line) => console.log(line))).differences);
