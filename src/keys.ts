import { readConfig } from '#app/config/config.ts';
import { recoverAccountKey } from '#app/tools/recover-key.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { GatewayError } from '#kernel/errors.ts';

/** Prints a new key of the account; the settings of the service name the log and the root key. */
try {
  console.log(await recoverAccountKey(readConfig()));
  process.exit(0);
} catch (error) {
  const isPlain = error instanceof GatewayError || CannotStart.is(error);
  console.error(isPlain ? error.message : error);
  process.exit(1);
}
