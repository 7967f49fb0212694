import { defineCommand } from '../command.ts';
import { stopOnInterrupt } from '../context.ts';
import { CommandFailure } from '../exit.ts';

export const serve = defineCommand({
  name: 'serve',
  usage: '',
  summary: 'Run the gateway on this machine, until a signal',
  about: `Runs the gateway with the settings of its variables (docs/generated/configuration.md). Its data is in
SVC_DATA_DIR, by default .svc-data in the current folder. The first start prints the keys, once.`,
  options: {
    smoke: ['--smoke', 'exit as soon as a gateway with data of its own has synced records'],
  },
  help: `Exit codes
  0 stopped by a signal   1 could not start: the message says why

Examples
  svc serve
  SVC_PORT=8080 SVC_DATA_DIR=/var/lib/svc svc serve`,

  async run({ values }, context) {
    using stopping = stopOnInterrupt(context);
    const options = values.smoke === true ? ['--smoke'] : [];
    const code = await context.runProgram('main', options, stopping.signal);
    if (code !== 0) throw new CommandFailure('The gateway did not end by a signal.');
  },
});
