/** Part of `npm run language`: fails on a file of `src` or `streams` that no README names, and on a README that is no map. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { folderMapProblems } from './folder-maps.ts';

const files = execFileSync('git', ['ls-files', 'src', 'streams'], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((file) => existsSync(file));
const problems = folderMapProblems(files, (file) => readFileSync(file, 'utf8'), existsSync);
for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${problems.length} problems of their READMEs`);
process.exitCode = problems.length === 0 ? 0 : 1;
