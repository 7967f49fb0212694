import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '#test/support/processes/gateway.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-ended-thread-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a thread that ends unasked', () => {
  const hook = fileURLToPath(new URL('../support/processes/end-thread.js', import.meta.url));

  it.each([
    ['log', 'exit', 'it ended with code 3'],
    ['owners', 'throw', 'RangeError: made to fail'],
    ['projection', 'exit', 'it ended with code 3'],
  ])('ends the process with one line: %s, by %s', async (thread, how, reason) => {
    await using gateway = await startGateway({
      dataDir: folder,
      env: { NODE_OPTIONS: `--import=${hook}` },
    });
    await writeFile(join(folder, `${how}-${thread}`), '');
    await gateway.exited;
    await rm(join(folder, `${how}-${thread}`));
    const lines = gateway.log.filter((line) => !line.includes('ExperimentalWarning'));
    const logged = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
    const fatal = logged.filter(({ level }) => level === 60);
    expect(fatal.map(({ msg }) => msg)).toEqual([`The ${thread} thread failed: ${reason}`]);
  });
});
