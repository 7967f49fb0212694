/** `node examples/recipes/streams/run.ts`: a Kafka Streams program that keeps the current table and counts. */
import { endWith } from '../differences.ts';
import { playStreams } from './recipe.ts';

endWith((await playStreams((line) => console.log(line))).differences);
