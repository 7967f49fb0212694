/** Part of `npm run language`: fails on the phrases of phrases.ts, and names what to write instead. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { findPhrases } from './phrases.ts';

const files = execFileSync('git', ['ls-files', '*.ts', '*.md'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => existsSync(file));
let count = 0;
for (const file of files) {
  for (const { line, text, use } of findPhrases(file, readFileSync(file, 'utf8'))) {
    console.error(`${file}:${line}: "${text}": write instead: ${use}`);
    count += 1;
  }
}
console.log(`${files.length} files, ${count} phrases to replace`);
process.exitCode = count === 0 ? 0 : 1;
