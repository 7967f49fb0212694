import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defineCommand } from '../command.ts';
import { mayPrompt, type Context } from '../context.ts';
import { CommandFailure, exitCodes, usageError } from '../exit.ts';
import { functionPath, kinds } from '../project-layout.ts';
import { nameInIndex, requireProject } from '../project.ts';
import { environmentOption, inEnvironment, serviceHelp } from '../service-command.ts';

export const pull = defineCommand({
  name: 'pull',
  usage: '<integration> <name>',
  summary: 'Fetch the source of a deployed function',
  about:
    "Writes the deployed TypeScript source into the function's folder, and adds it to index.ts.",
  options: {
    environment: environmentOption,
    env: ['--env <name>', 'the same as --environment'],
    sync: ['-s, --sync', 'the sync of that name'],
    action: ['-a, --action', 'the action of that name'],
    'on-event': ['--on-event', 'the on-event function of that name'],
    force: ['--force', 'replace a file that differs'],
  },
  help: `${serviceHelp}

Examples
  svc pull crm contacts -e dev
  svc pull crm contacts --sync --force -e prod`,

  async run({ positionals, values }, context) {
    requireProject(context.root);
    const [integration = '', name = ''] = positionals;
    const chosen = kinds.filter((kind) => values[kind] === true);
    if (chosen.length > 1) {
      throw usageError('Choose one of --sync, --action and --on-event');
    }
    const mayReplace = values.force === true;
    await inEnvironment(
      context,
      { ...values, environment: values.environment ?? values.env },
      async (client) => {
        const { type, code } = await client.request(
          'GET /integrations/{uniqueKey}/functions/{name}/code',
          { params: { uniqueKey: integration, name }, query: { type: chosen[0] } },
        );
        const file = `${functionPath(integration, type, name)}.ts`;
        await write(context, file, code, { mayReplace, interactive: values.interactive });
        nameInIndex(context.root, integration, type, name);
        context.output.result(`Pulled ${file}`);
      },
    );
  },
});

async function write(
  context: Context,
  file: string,
  code: string,
  { mayReplace, interactive }: { mayReplace: boolean; interactive: boolean | undefined },
): Promise<void> {
  const path = join(context.root, file);
  const isOther = existsSync(path) && readFileSync(path, 'utf8') !== code;
  if (isOther && !mayReplace) {
    const isAgreed =
      mayPrompt(context, interactive) &&
      /^y(es)?$/i.test(await context.prompt(`Replace ${file}, which is another, y/n? `));
    if (!isAgreed) {
      throw new CommandFailure(`${file} exists with other content: --force replaces it`, {
        exitCode: exitCodes.refused,
      });
    }
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
}
