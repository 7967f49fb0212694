import { defineCommand } from '../command.ts';
import { CommandFailure } from '../exit.ts';

export const log = defineCommand({
  name: 'log',
  usage: '',
  summary:
    'Export the log of the service, import it into an empty one, give it more partitions, or accept its loss',
  about: `Works on the log directly, on the machine of the service and with its settings (SVC_DATA_DIR, SVC_LOG_URL,
SVC_REGISTRY_URL, SVC_PARTITIONS …), while no process of the service runs. The root key is not part of the files:
carry root.key or SVC_ENCRYPTION_KEY over by another way.`,
  words: {
    'export <folder>': 'write everything into the folder, which must be empty or missing',
    'import <folder>': 'fill the log from the folder; the log must be empty',
    'repartition <n> [prefix]':
      'copy the log to one with n partitions, a multiple of the present number; of Kafka, to topics with the prefix',
    'accept-loss':
      'go on with a log that lacks acknowledged messages: what was derived from them is removed',
  },
  options: {},
  help: `Exit codes
  0 done   1 failed: the message says why

Examples
  SVC_DATA_DIR=./old svc log export ./backup
  SVC_DATA_DIR=./new svc log import ./backup
  svc log repartition 8`,

  async run({ word, positionals }, context) {
    const code = await context.runProgram('log', [word, ...positionals]);
    if (code !== 0) throw new CommandFailure(`The ${word} failed.`);
  },
});
