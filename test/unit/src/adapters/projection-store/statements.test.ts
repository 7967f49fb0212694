import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const program = fileURLToPath(
  new URL('../../../../support/processes/statement-child.ts', import.meta.url),
);

it('lets a process go on whose thread is terminated while a statement runs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-statements-'));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, folder, '2']);
    expect(stdout).toBe('terminated\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
