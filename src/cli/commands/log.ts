import type { Command } from '../context.ts';
import { CommandFailure, usageError } from '../exit.ts';
import { parseCommand } from '../options.ts';

export const log: Command = {
  name: 'log',
  usage: '<export|import> <folder>',
  summary: 'Export the log of the service to files, or import it into an empty one',
  help: `Works on the log directly, on the machine of the service and with its settings (SVC_DATA_DIR, SVC_LOG_URL,
SVC_REGISTRY_URL, SVC_PARTITIONS …), while no process of the service runs. The root key is not part of the files:
carry root.key or SVC_ENCRYPTION_KEY over by another way.

Words
  export <folder>         write everything into the folder, which must be empty or missing
  import <folder>         fill the log from the folder; the log must be empty

Exit codes
  0 done   1 failed: the message says why

Examples
  SVC_DATA_DIR=./old svc log export ./backup
  SVC_DATA_DIR=./new svc log import ./backup`,

  async run(args, context) {
    const { positionals } = parseCommand(args, {});
    const [word, folder, ...rest] = positionals;
    const isKnown = word === 'export' || word === 'import';
    if (!isKnown || folder === undefined || rest.length > 0) {
      throw usageError('Use: svc log export <folder>, or svc log import <folder>');
    }
    const code = await context.runOnLog('log', [word, folder]);
    if (code !== 0) throw new CommandFailure(`The ${word} failed.`);
  },
};
