import { compose, type Running } from './app/compose.ts';
import { readConfig, readShownSettings } from './app/config.ts';
import { createLogger } from './app/logger.ts';
import { ConfigError } from './app/settings.ts';

/** Serves until a signal. Exits 0 after a clean stop, 1 when it cannot start. */
async function main(): Promise<void> {
  const config = readConfig();
  createLogger(config.logLevel, 'main').info({ settings: readShownSettings() }, 'starting');
  const running = await compose(config);
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, die);
  running.failed.catch(die);
  announce(running);
  await new Promise<void>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve());
  });
  await running[Symbol.asyncDispose]();
}

/**
 * Ends the process at once, as a crash would: what was acknowledged is in the log, and an orderly end could wait
 * for ever for a thread in the middle of an insert.
 */
function die(error: unknown): void {
  console.error(error);
  process.kill(process.pid, 'SIGKILL');
}

function announce({ url, firstKeys }: Running): void {
  console.log(JSON.stringify({ event: 'ready', url }));
  console.log(`svc listens on ${url}`);
  if (firstKeys === null) return;
  console.log('Keys of the first start; they are shown only now:');
  for (const { name, secret } of firstKeys.environments)
    console.log(`  ${name.padEnd(8)} ${secret}`);
  console.log(`  account  ${firstKeys.accountKey}`);
}

/** By its name: one that was thrown in a thread has lost its class. */
const isConfigError = (error: unknown): error is Error =>
  error instanceof Error && error.name === ConfigError.name;

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(isConfigError(error) ? error.message : error);
  process.exit(1);
}
