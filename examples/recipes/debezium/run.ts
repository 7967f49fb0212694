/** `node examples/recipes/debezium/run.ts`: Debezium's transforms over a typed topic with old rows and structured keys. */
import { endWith } from '../differences.ts';
import { playDebezium } from './recipe.ts';

const { differences, mistakes } = await playDebezium((line) => console.log(line));
endWith([...differences, ...mistakes]);
