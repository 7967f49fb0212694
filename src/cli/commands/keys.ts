import type { Command } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { parseCommand } from '../options.ts';

export const keys: Command = {
  name: 'keys',
  usage: 'recover',
  summary: 'Make a new key of the account where the last one was lost',
  help: `Works on the log itself, on the machine of the service and with its settings (SVC_DATA_DIR, SVC_LOG_URL,
SVC_REGISTRY_URL, SVC_PARTITIONS …), while no process of the service runs on the data folder. It needs the root key:
root.key in the data folder, or SVC_ENCRYPTION_KEY.

Words
  recover                 make a key of the account and print it on stdout; it is shown only now

The event account_key.recover is appended to the audit trail of the account. Keys that are known to others stay valid:
delete those that were lost (DELETE /account/api-keys/{id}).

Exit codes
  0 done   1 failed: the message says why

Examples
  SVC_DATA_DIR=./.svc-data svc keys recover`,

  async run(args, context) {
    const { positionals } = parseCommand(args, {});
    if (positionals.length !== 1 || positionals[0] !== 'recover') {
      throw new CommandFailure('Say: svc keys recover', { isUsage: true });
    }
    const code = await context.runOnLog('keys', []);
    if (code !== 0) throw new CommandFailure('No key was made.');
  },
};
