import { compose, type Running } from './app/compose.ts';
import { readConfig } from './app/config.ts';
import { ConfigError } from './app/settings.ts';

/** Serves until a signal. Exits 0 after a clean stop, 1 when it cannot start or cannot go on. */
async function main(): Promise<void> {
  const running = await compose(readConfig());
  announce(running);
  const signal = new Promise<void>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve());
  });
  try {
    await Promise.race([signal, running.failed]);
  } finally {
    await running[Symbol.asyncDispose]();
  }
}

function announce({ url, firstKeys }: Running): void {
  console.log(JSON.stringify({ event: 'ready', url }));
  if (url !== null) console.log(`svc listens on ${url}`);
  if (firstKeys === null) return;
  console.log('Keys of the first start; they are shown only now:');
  for (const { name, secret } of firstKeys.environments)
    console.log(`  ${name.padEnd(8)} ${secret}`);
  console.log(`  account  ${firstKeys.accountKey}`);
}

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
}
