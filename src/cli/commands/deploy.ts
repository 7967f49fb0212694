import { defineCommand, type Options } from '../command.ts';
import { mayPrompt } from '../context.ts';
import { packageFunctions } from '../deploy/package.ts';
import { performDeployment } from '../deploy/perform.ts';
import { exitCodes } from '../exit.ts';
import { showProgress } from '../progress.ts';
import { requireProject } from '../project.ts';
import { environmentNamed, targetOf } from '../secret-key.ts';
import { environmentOption } from '../service-command.ts';
import { compileStep } from './compile.ts';

const options = {
  environment: environmentOption,
  version: ['-v, --version <label>', 'version label of every function of this deployment'],
  sync: ['-s, --sync <name>', 'only this sync; nothing is removed'],
  action: ['-a, --action <name>', 'only this action; nothing is removed'],
  integration: ['-i, --integration <id>', 'only this integration; removals are limited to it'],
  'allow-destructive': ['--allow-destructive', 'with --auto-confirm: remove without asking'],
  'allow-breaking': [
    '--allow-breaking',
    'remove fields of models and change their types without asking',
  ],
  json: [
    '--json',
    '{created, updated, unchanged, deleted, deletedModels} on stdout, the plan on stderr',
  ],
} as const satisfies Options;

/** Three of the compilation, then comparison and deployment. */
const phases = 5;

export const deploy = defineCommand({
  name: 'deploy',
  usage: '[environment]',
  summary: 'Deploy the functions to an environment of the service',
  about: `Compiles the project, shows the changes and deploys it. The project is authoritative:
deployed functions that are no longer in index.ts are removed.`,
  options,
  help: `Variables
  SVC_ENV                        the environment when none is named (dev)
  SVC_SECRET_KEY_<ENVIRONMENT>   API key of the environment; SVC_SECRET_KEY otherwise
  SVC_HOSTPORT                   address of the service (http://localhost:3003)
  SVC_DEPLOY_AUTO_CONFIRM=true   the same as --auto-confirm

Examples
  svc deploy dev
  svc deploy prod --integration crm --version 1.4.0
  svc deploy prod --allow-destructive --auto-confirm`,

  async run({ positionals, values }, context) {
    requireProject(context.root);
    const canAsk = mayPrompt(context, values.interactive);
    const named = environmentNamed(positionals[0], values.environment);
    const { secretKey } = await targetOf(context, named, {
      canAsk,
      exitCode: exitCodes.deployFailed,
    });
    const client = context.openClient(secretKey);
    await using sandbox = await context.openSandbox();
    const progress = showProgress(context.output, phases);
    const compiled = await compileStep(context, values, sandbox, progress);
    const deployment = packageFunctions(compiled.functions, values, values.version);
    const autoConfirm = values['auto-confirm'] === true || context.environment.deployAutoConfirm;
    const allowDestructive = values['allow-destructive'] === true;
    const allowBreaking = values['allow-breaking'] === true;
    const consent = { autoConfirm, allowDestructive, allowBreaking, canAsk };
    const telling = { progress, isJson: values.json === true };
    await performDeployment(context, client, deployment, consent, telling);
  },
});
