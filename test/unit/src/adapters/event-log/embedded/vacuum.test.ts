import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';
import { keptTopic, placed, position, readAll } from '#test/support/worlds/log.ts';

it('the file gives back the space of what was deleted, and keeps what was not', async () => {
  await using folder = await temporaryFolder();
  const directory = folder.path;
  const value = randomBytes(900_000);
  {
    await using embedded = await openEmbeddedLog({ directory });
    const { log } = embedded;
    await log.ensureTopics([keptTopic('t', 2)]);
    for (let at = 0; at < 60; at += 1) {
      await log.append([placed('t', at % 2, { key: String(at), value, headers: {} })]);
    }
    await log.deleteBefore(position('t', 0, 30));
    await embedded.maintenance.clean();
    const kept = await readAll(log, 't', 1);
    expect(kept.map(({ key }) => key)).toEqual(
      Array.from({ length: 30 }, (_, at) => String(2 * at + 1)),
    );
    expect(kept.every((message) => value.equals(message.value ?? Buffer.alloc(0)))).toBe(true);
  }
  // 27 MB live, and 8 MiB of free pages may stay.
  expect(statSync(join(directory, 'log.sqlite')).size).toBeLessThan(37_000_000);
});
