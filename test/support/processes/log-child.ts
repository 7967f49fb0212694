/**
 * A process that appends to an embedded log until it is killed, or until the disk is full; it prints the acknowledged
 * appends. Run by the tests of the embedded log: `log-child.ts <directory> load|large|fill`.
 */
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { GatewayError } from '#kernel/errors.ts';
import { keptTopic, message, placed, position } from '../worlds/log.ts';

const [directory = '', mode] = process.argv.slice(2);
const tell = (line: unknown): number => writeSync(1, `${JSON.stringify(line)}\n`);

const { log } = await openEmbeddedLog({ directory });
await log.ensureTopics([keptTopic('appended', 3), keptTopic('changes', 2), keptTopic('heads')]);

/** Appends to one partition, one call after the other. */
async function append(partition: number): Promise<never> {
  for (let n = 0; ; n++) {
    const messages = [0, 1, 2].map((i) => message(`${partition}/${n}/${i}`, 'x'.repeat(n % 2_000)));
    const [place] = await log.append([placed('appended', partition, ...messages)]);
    tell({ appended: n, partition, offset: place?.offset });
  }
}

/** Transactions over two topics and a position. */
async function commit(): Promise<never> {
  const writer = await log.openWriter('writer');
  for (let n = 1; ; n++) {
    const batch = [
      placed('changes', n % 2, message(String(n))),
      placed('heads', 0, message(String(n))),
    ];
    await writer.commit(batch, { group: 'owners', positions: [position('appended', 0, n)] });
    tell({ committed: n });
  }
}

/** So much that checkpoints are always under way. */
async function appendLarge(): Promise<never> {
  for (let n = 0; ; n++) {
    const sent = { key: String(n), value: randomBytes(512 * 1024), headers: {} };
    await log.append([placed('appended', 0, sent)]);
    tell({ appended: n });
  }
}

if (mode === 'load') {
  await Promise.all([append(0), append(1), append(2), commit()]);
} else if (mode === 'large') {
  await appendLarge();
} else {
  for (let n = 0; ; n++) {
    const sent = { key: String(n), value: randomBytes(60_000), headers: {} };
    try {
      await log.append([placed('appended', 0, sent)]);
    } catch (error) {
      const code = error instanceof GatewayError ? error.code : String(error);
      tell({ refused: n, code, end: await log.endOffset('appended', 0) });
      process.kill(process.pid, 'SIGKILL');
    }
  }
}
