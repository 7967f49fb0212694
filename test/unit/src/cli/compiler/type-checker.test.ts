import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TypeChecker } from '#cli/compiler/type-checker.ts';
import { ownPackage } from '#cli/package.ts';

/** Processes that this one has started. */
const children = (): string[] => {
  try {
    const printed = execFileSync('pgrep', ['-P', String(process.pid), 'tsc'], { encoding: 'utf8' });
    return printed.trim().split('\n');
  } catch {
    return [];
  }
};

it.each(['before it is closed', 'while it is closed'])(
  'a checker whose process ends %s is closed',
  async (when) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-checker-')));
    using _ = { [Symbol.dispose]: () => rmSync(root, { recursive: true }) };
    const file = join(root, 'index.ts');
    writeFileSync(file, 'export const one: number = 1;\n');
    const others = new Set(children());
    const checker = new TypeChecker(root, ownPackage());
    expect((await checker.check([file])).problems).toEqual([]);
    const own = children().filter((pid) => !others.has(pid));
    expect(own).toHaveLength(1);
    const closing = when.startsWith('while') ? checker[Symbol.asyncDispose]() : null;
    process.kill(Number(own[0]), 'SIGKILL');
    await (closing ?? checker[Symbol.asyncDispose]());
    expect(children()).not.toContain(own[0]);
  },
);
