import { showRows } from '../columns.ts';
import { defineCommand } from '../command.ts';

export const config = defineCommand({
  name: 'config',
  usage: '',
  summary: 'Show the settings of the command line, and where each comes from',
  about: `The variables that the commands read: from the process, from .env of the project, or their default. Keys are shown by
their last four characters. The settings of the service are listed in docs/generated/configuration.md.`,
  options: { json: ['--json', 'the settings as JSON: {name, value, source}'] },
  help: `Examples
  svc config
  svc config --json`,

  async run({ values }, context) {
    const heads = ['setting', 'value', 'source'];
    await showRows(context, values.json, context.environment.settings(), heads, (one) => [
      one.name,
      one.value ?? '',
      one.source,
    ]);
  },
});
