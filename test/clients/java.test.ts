import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '#test/services/commands.ts';
import { openClient } from './program.ts';

it('the generated client for Java compiles', async () => {
  await using client = await openClient('java');
  await run('mvn', ['-q', '-B', '-DskipTests', 'compile'], { cwd: client.client });
  const folder = join(client.client, 'target/classes/svc/client');
  expect(existsSync(join(folder, 'api/RecordsApi.class'))).toBe(true);
});
