import { buildPrograms } from '#bin/build.ts';

/** Before a project's tests: the programs that they start are those of the sources. */
export default buildPrograms;
