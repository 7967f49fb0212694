/** A process of its own that uses the log in Kafka: `url prefix writer|member|guest topic`. Reports in JSON lines. */
import { openTestLog } from '../worlds/kafka-open.ts';
import { message, placed, position, readAll } from '../worlds/log.ts';

const [url = '', prefix = '', role = '', topic = ''] = process.argv.slice(2);
const tell = (fact: object): void => void process.stdout.write(`${JSON.stringify(fact)}\n`);

/** Commits numbered messages, one after the other, until it is refused as the owner. */
async function write(): Promise<void> {
  const { log } = await openTestLog(url, { prefix });
  const writer = await log.openWriter('owner');
  for (let nth = 0; ; nth++) {
    try {
      await writer.commit([placed(topic, 0, message(`${process.pid}/${nth}`))]);
      tell({ committed: `${process.pid}/${nth}` });
    } catch (error) {
      tell({ failed: (error as { code?: string }).code ?? String(error) });
      return log[Symbol.asyncDispose]();
    }
  }
}

/** Joins the group and stays until it is killed. */
async function join(): Promise<void> {
  const { log } = await openTestLog(url, { prefix, sessionTimeoutMs: 6_000 });
  await log.join('group', [topic], {
    assigned: (partitions) => tell({ assigned: partitions }),
    revoked: (partitions) => tell({ revoked: partitions }),
  });
}

/** Does a little of everything, closes the log, and ends when nothing is left that keeps a process alive. */
async function visit(): Promise<void> {
  await using opened = await openTestLog(url, { prefix });
  const { log } = opened;
  await log.append([placed(topic, 0, message('a'))]);
  const writer = await log.openWriter('guest');
  await writer.commit([placed(topic, 0, message('b'))]);
  const handler = { assigned: () => undefined, revoked: () => undefined };
  await log.join('guests', [topic], handler);
  await log.commit({ group: 'guests', positions: [position(topic, 0, 1)] });
  const following = log.follow([position(topic)], { signal: new AbortController().signal });
  for await (const { next } of following) if (next > 0) break;
  tell({ read: (await readAll(log, topic)).length });
}

if (role === 'writer') await write();
else if (role === 'member') await join();
else await visit();
