import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openEmbeddedLogClient } from '#adapters/event-log/embedded/client.ts';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';
import { schemasContract } from './schemas.contract.ts';

const topic = 'svc.records.v1';

schemasContract('embedded', {
  async begin() {
    await using stack = new AsyncDisposableStack();
    const { path: directory } = stack.use(await temporaryFolder());
    const embedded = stack.use(await openEmbeddedLog({ directory }));
    const opened = stack.move();
    return {
      open: async (schemasFolder) => {
        const port = embedded.connectPort();
        return opened.use(openEmbeddedLogClient({ directory, port, schemasFolder })).schemas;
      },
      // The file of the log has them all.
      arrive: async () => undefined,
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  },
});

/** A log that has the schema of the topic, closed. */
async function writtenLog(stack: AsyncDisposableStack) {
  const { path: directory } = stack.use(await temporaryFolder());
  {
    await using written = await openEmbeddedLog({ directory });
    await written.schemas.codec(topic);
  }
  return { directory, file: join(directory, 'log.sqlite') };
}

function changed(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

const checksums = (file: string): unknown[] => {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare('SELECT crc FROM schemas').all();
  database.close();
  return rows.map(({ crc }) => crc);
};

/** Of each copy of a text in the file: the table has one, its index another. */
async function placesOf(file: string, text: string): Promise<readonly number[]> {
  const bytes = await readFile(file);
  const found: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) found.push(at);
  return found;
}

describe('a damaged page of schemas', () => {
  it.each([
    ['a name in a text', '"long"', '"lonh"'],
    ['the syntax of a text', '"fields"', '"fields!'],
  ])(
    'is damage of the log, in the table and in its index, and no broken compatibility: %s',
    async (_, written, damaged) => {
      await using stack = new AsyncDisposableStack();
      const { file, directory } = await writtenLog(stack);
      const whole = await readFile(file);
      const places = await placesOf(file, written);
      expect(places.length).toBeGreaterThan(1);
      for (const place of [places[0]!, places.at(-1)!]) {
        const bytes = Buffer.from(whole);
        bytes.write(damaged, place);
        await writeFile(file, bytes);
        const using = async (): Promise<void> => {
          await using opened = await openEmbeddedLog({ directory });
          await opened.schemas.codec(topic);
        };
        // What an index repeats of a text may go unread, but it is never taken for the text.
        const outcome = await using().then(
          () => 'unread',
          (error: unknown) => (error as { readonly code?: string }).code,
        );
        expect(['log_corrupt', 'unread']).toContain(outcome);
      }
    },
  );
});

describe('a schema in the embedded log', () => {
  it.each(["definition = replace(definition, 'string', 'strinh')", 'id = id + 1', "subject = 'x'"])(
    'that is not as it was written is damage of the log: %s',
    async (change) => {
      await using stack = new AsyncDisposableStack();
      const { directory, file } = await writtenLog(stack);
      changed(file, `UPDATE schemas SET ${change}`);
      const opening = openEmbeddedLog({ directory });
      await expect(opening).rejects.toMatchObject({ code: 'log_corrupt' });
      await expect(opening).rejects.toThrow(/corrupt: the schema \d+ of /);
    },
  );

  it('that an earlier release wrote gets its checksum when the log is opened', async () => {
    await using stack = new AsyncDisposableStack();
    const { directory, file } = await writtenLog(stack);
    const [written] = checksums(file);
    changed(file, 'ALTER TABLE schemas DROP COLUMN crc');
    {
      await using opened = await openEmbeddedLog({ directory });
      await opened.schemas.codec(topic);
    }
    expect(checksums(file)).toEqual([written]);
  });
});
