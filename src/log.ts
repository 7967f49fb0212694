import { readConfig } from './app/config.ts';
import { isDirection, transferLog } from './app/transfer.ts';
import { CannotStart } from './kernel/cannot-start.ts';
import { GatewayError } from './kernel/errors.ts';

/** `export <folder>` or `import <folder>`; the settings of the service name the log. */
async function main(): Promise<void> {
  const [direction, folder, ...rest] = process.argv.slice(2);
  if (!isDirection(direction) || folder === undefined || rest.length > 0) {
    throw new GatewayError('invalid_request', {
      message: 'Say: export <folder>, or import <folder>',
    });
  }
  let total = 0;
  const { topics } = await transferLog(readConfig(), direction, folder, ({ topic, messages }) => {
    total += messages;
    if (messages > 0) console.error(`${topic}: ${messages} messages`);
  });
  console.log(JSON.stringify({ event: direction, folder, topics: topics.length, messages: total }));
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
