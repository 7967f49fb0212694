import type { Command } from '../context.ts';

export const version: Command = {
  name: 'version',
  usage: '',
  summary: 'Show the version of this program',
  help: `Examples
  svc version
  svc --version`,

  async run(_args, context) {
    context.output.result(context.own.version);
  },
};
