/** `node examples/recipes/postgres/run.ts`: from nothing to a table of PostgreSQL that equals `GET /records`. */
import { playPostgres } from './recipe.ts';

const { differences } = await playPostgres((line) => console.log(line));
for (const line of differences.slice(0, 20)) console.error(line);
process.exitCode = differences.length === 0 ? 0 : 1;
