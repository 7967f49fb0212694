import { defineCommand } from '../command.ts';
import { CommandFailure } from '../exit.ts';

export const keys = defineCommand({
  name: 'keys',
  usage: '',
  summary: 'Create a new account key after the last one was lost',
  about: `Works on the log directly, on the machine of the service and with its settings (SVC_DATA_DIR, SVC_LOG_URL,
SVC_REGISTRY_URL, SVC_PARTITIONS …), while no process of the service runs on the data folder. It needs the root key:
root.key in the data folder, or SVC_ENCRYPTION_KEY.

The event account_key.recover is appended to the audit trail of the account. Lost keys stay valid:
delete them (DELETE /account/api-keys/{id}).`,
  words: {
    recover: 'create an account key and print it on stdout, once',
  },
  options: {},
  help: `Exit codes
  0 done   1 failed: the message says why

Examples
  SVC_DATA_DIR=./.svc-data svc keys recover`,

  async run(_input, context) {
    const code = await context.runProgram('keys', []);
    if (code !== 0) throw new CommandFailure('No key was created.');
  },
});
