import { readConfig } from '#app/config/config.ts';
import { acceptLoss } from '#app/tools/accept-loss.ts';
import { backUp, restore, verifyFolder } from '#app/tools/backup.ts';
import { repartitionLog } from '#app/tools/repartition.ts';
import { isDirection, transferLog } from '#app/tools/transfer.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { GatewayError } from '#kernel/errors.ts';

/**
 * `export <folder>`, `import <folder>`, `backup <folder>`, `verify <folder>`, `restore <folder> [time or id]`, `repartition
 * <partitions> [prefix]` or `accept-loss`; the settings of the service name the log.
 */
async function main(): Promise<void> {
  const [word, what, prefix = null, ...rest] = process.argv.slice(2);
  if (word === 'accept-loss' && what === undefined) {
    console.log(JSON.stringify({ event: word, ...acceptLoss(readConfig()) }));
    return;
  }
  if (what === undefined || rest.length > 0) throw unclear();
  let total = 0;
  const progress = ({ topic, messages }: { topic: string; messages: number }): void => {
    total += messages;
    if (messages > 0) console.error(`${topic}: ${messages} messages`);
  };
  if (word === 'backup' && prefix === null) {
    console.log(
      JSON.stringify({ event: word, folder: what, ...(await backUp(readConfig(), what)) }),
    );
    return;
  }
  if (word === 'verify' && prefix === null) {
    console.log(JSON.stringify({ event: word, folder: what, backups: await verifyFolder(what) }));
    return;
  }
  if (word === 'restore') {
    const restored = await restore(readConfig(), what, prefix, progress);
    console.log(JSON.stringify({ event: word, folder: what, ...restored }));
    return;
  }
  if (word === 'repartition') {
    const done = await repartitionLog(readConfig(), partitionsOf(what), prefix, progress);
    console.log(JSON.stringify({ event: word, ...done }));
    return;
  }
  if (!isDirection(word) || prefix !== null) throw unclear();
  const { topics } = await transferLog(readConfig(), word, what, progress);
  console.log(
    JSON.stringify({ event: word, folder: what, topics: topics.length, messages: total }),
  );
}

const unclear = (): GatewayError =>
  new GatewayError('invalid_request', {
    message:
      'Say: export <folder>, import <folder>, backup <folder>, verify <folder>, restore <folder> [time or id], repartition <partitions> [prefix], or accept-loss',
  });

/** @throws GatewayError `invalid_request` */
function partitionsOf(text: string): number {
  const partitions = Number(text);
  if (Number.isInteger(partitions) && partitions >= 1 && partitions <= 1024) return partitions;
  const message = `Partitions: expected a whole number from 1 to 1024, got "${text}"`;
  throw new GatewayError('invalid_request', { message });
}

/** Errors that say what to do; anything else is a bug, and shown whole. */
const isPlain = (error: unknown): error is Error =>
  error instanceof GatewayError || CannotStart.is(error);

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(isPlain(error) ? error.message : error);
  process.exit(1);
}
