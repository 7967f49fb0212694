import type { Logger } from 'pino';
import { compose, type RunningService } from '#app/compose.ts';
import { readConfig, readSetSettings, readShownSettings, type Config } from '#app/config/config.ts';
import { createLogger } from '#app/process/logger.ts';
import { isReadByPerson } from '#app/process/readable-lines.ts';
import { bannerOf } from '#app/roles/banner.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { ThreadFailure } from '#kernel/thread-failure.ts';

/** Longest graceful stop: other processes take over unfinished work, as after a crash. */
const stopWithinMs = 25_000;

/**
 * Serves until a signal. Exits 0 after a clean stop, 1 when it cannot start, or cannot stop in time. With `--smoke` it
 * exits 0 as soon as a gateway of its own has synced records.
 */
async function serve(): Promise<void> {
  const config = readConfig();
  if (process.argv.includes('--smoke')) {
    const { smoke } = await import('#app/tools/smoke.ts');
    console.log(`The gateway works: it synced ${await smoke(config)} records.`);
    return;
  }
  const logger = createLogger(config.logLevel, 'main');
  logger.info(isReadByPerson() ? readSetSettings() : { settings: readShownSettings() }, 'starting');
  const die = dieWith(logger);
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, die);
  const stopped = signaled();
  // Nothing was accepted yet: an interrupted start has nothing to finish.
  const running = await Promise.race([compose(config), stopped]).catch((error: unknown) => {
    if (error instanceof ThreadFailure) die(error);
    throw error;
  });
  if (running === null) return;
  running.failed.catch(die);
  announce(running, config);
  await stopped;
  const late = setTimeout(() => {
    logger.error(`not stopped within ${stopWithinMs / 1000} s`);
    process.exit(1);
  }, stopWithinMs);
  await running[Symbol.asyncDispose]();
  clearTimeout(late);
}

function signaled(): Promise<null> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve(null));
  });
}

/**
 * Ends the process at once, like a crash: what was acknowledged is in the log, and a graceful stop could wait
 * indefinitely for a thread in the middle of an insert.
 */
function dieWith(logger: Logger) {
  return (error: unknown): void => {
    logger.fatal({ err: error }, error instanceof Error ? error.message : String(error));
    process.kill(process.pid, 'SIGKILL');
  };
}

/** To a person a banner; to a program an event of JSON, and lines of text after it. */
function announce(running: RunningService, config: Config): void {
  if (process.stdout.isTTY) {
    console.log(bannerOf(running, config));
    return;
  }
  const { url, generatedKeys, consoleUrl } = running;
  console.log(JSON.stringify({ event: 'ready', url }));
  console.log(`svc listens on ${url}`);
  if (consoleUrl !== null) console.log(`Console, for five minutes: ${consoleUrl}`);
  if (generatedKeys.length === 0) return;
  console.log('Keys of the first start; they are shown only now:');
  for (const { name, secret } of generatedKeys) console.log(`  ${name.padEnd(8)} ${secret}`);
}

try {
  await serve();
  process.exit(0);
} catch (error) {
  console.error(CannotStart.is(error) ? error.message : error);
  process.exit(1);
}
