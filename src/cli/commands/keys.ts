import type { Command } from '../context.ts';
import { CommandFailure, usageError } from '../exit.ts';
import { parseCommand } from '../options.ts';

export const keys: Command = {
  name: 'keys',
  usage: 'recover',
  summary: 'Create a new account key after the last one was lost',
  help: `Works on the log directly, on the machine of the service and with its settings (SVC_DATA_DIR, SVC_LOG_URL,
SVC_REGISTRY_URL, SVC_PARTITIONS …), while no process of the service runs on the data folder. It needs the root key:
root.key in the data folder, or SVC_ENCRYPTION_KEY.

Words
  recover                 create an account key and print it on stdout, once

The event account_key.recover is appended to the audit trail of the account. Lost keys stay valid:
delete them (DELETE /account/api-keys/{id}).

Exit codes
  0 done   1 failed: the message says why

Examples
  SVC_DATA_DIR=./.svc-data svc keys recover`,

  async run(args, context) {
    const { positionals } = parseCommand(args, {});
    if (positionals.length !== 1 || positionals[0] !== 'recover') {
      throw usageError('Use: svc keys recover');
    }
    const code = await context.runOnLog('keys', []);
    if (code !== 0) throw new CommandFailure('No key was created.');
  },
};
