/** `node examples/recipes/flink/run.ts`: Flink SQL over a typed topic with old rows. */
import { endWith } from '../differences.ts';
import { playFlink } from './recipe.ts';

endWith((await playFlink((line) => console.log(line))).differences);
