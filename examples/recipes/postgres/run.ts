/** `node examples/recipes/postgres/run.ts`: from nothing to a table of PostgreSQL that equals `GET /records`. */
import { endWith } from '../differences.ts';
import { playPostgres } from './recipe.ts';

endWith((await playPostgres((line) => console.log(line))).differences);
