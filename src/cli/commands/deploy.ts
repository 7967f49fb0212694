import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ApiError, type Client, type DeployPlan } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { defineCommand, type Options } from '../command.ts';
import { mayPrompt, type Context } from '../context.ts';
import { withIntegrations } from '../deploy/missing-integrations.ts';
import { packageFunctions, type Deployment } from '../deploy/package.ts';
import { isDestructive, isEmpty, planLines, resultLines } from '../deploy/plan.ts';
import {
  changesNothing,
  performProjections,
  planProjections,
  projectionLines,
  type ProjectionPlan,
} from '../deploy/projections.ts';
import { exitCodes, CommandFailure, usageError } from '../exit.ts';
import type { Output } from '../output.ts';
import { functionPath, kinds } from '../project-layout.ts';
import { requireProject, nameInIndex } from '../project.ts';
import { progressLine } from '../projections/show.ts';
import { refusalText } from '../refusal-text.ts';
import { environmentNamed, targetOf } from '../secret-key.ts';
import { environmentOption, inEnvironment, serviceHelp } from '../service-command.ts';
import { compileStep } from './compile.ts';

const options = {
  environment: environmentOption,
  version: ['-v, --version <label>', 'version label of every function of this deployment'],
  sync: ['-s, --sync <name>', 'only this sync; nothing is removed'],
  action: ['-a, --action <name>', 'only this action; nothing is removed'],
  integration: ['-i, --integration <id>', 'only this integration; removals are limited to it'],
  prune: [
    '--prune',
    'also remove projections, and functions of integrations, that the project does not contain',
  ],
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
  about: `Compiles the project, shows the changes and deploys it. The project is authoritative for its integrations: their
deployed functions that are no longer in index.ts are removed. Functions of other integrations stay, unless --prune is
given. Projections that are no longer in index.ts stay as well, unless --prune is given.`,
  options,
  help: `Variables
  SVC_ENV                        the environment when none is named (dev)
  SVC_SECRET_KEY_<ENVIRONMENT>   API key of the environment; SVC_SECRET_KEY otherwise
  SVC_HOSTPORT                   address of the service (http://localhost:3003)
  SVC_DEPLOY_AUTO_CONFIRM=true   the same as --auto-confirm

Examples
  svc deploy dev
  svc deploy prod --integration crm --version 1.4.0
  svc deploy prod --prune --allow-destructive --auto-confirm`,

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
    const { functions, projections } = compiled;
    const deployment = packageFunctions(functions, values, values.version, projections);
    const autoConfirm = values['auto-confirm'] === true || context.environment.deployAutoConfirm;
    const allowDestructive = values['allow-destructive'] === true;
    const allowBreaking = values['allow-breaking'] === true;
    const consent = { autoConfirm, allowDestructive, allowBreaking, canAsk };
    const telling = { progress, isJson: values.json === true };
    await performDeployment(context, client, deployment, consent, telling);
  },
});

const deployFailed = { exitCode: exitCodes.deployFailed } as const;

/** The user's prior consent, and whether a prompt is possible. */
export interface Consent {
  readonly autoConfirm: boolean;
  readonly allowDestructive: boolean;
  readonly allowBreaking: boolean;
  readonly canAsk: boolean;
}

/** How results are printed. */
interface DeployOutput {
  readonly progress: (phase: string) => void;
  /** The result as one JSON document on stdout; the plan then goes to stderr. */
  readonly isJson: boolean;
}

/**
 * Prints the plan, asks before removals, and deploys.
 * @throws CommandFailure when the service or the user refuses
 */
export async function performDeployment(
  context: Pick<Context, 'output' | 'prompt' | 'root'>,
  client: Client,
  deployment: Deployment,
  consent: Consent,
  { progress, isJson }: DeployOutput,
): Promise<void> {
  const { output } = context;
  try {
    progress('Comparing with what is deployed');
    const { request: body, preview } = deployment;
    const path = 'POST /functions/deployments/bundle/preview';
    const project = {
      root: context.root,
      functions: deployment.functions,
      note: (line: string) => output.note(line),
    };
    const plan = await withIntegrations(client, project, () =>
      client.request(path, { body: preview }),
    );
    const ofProjections = await planProjections(
      client,
      deployment.projections,
      deployment.isPruned,
    );
    const lines = [
      ...planLines(plan, output.paint),
      ...projectionLines(ofProjections, output.paint),
    ];
    lines.forEach((line) => (isJson ? output.note(line) : output.result(line)));
    const { syncs_pending: isPending, ...unchanged } = plan;
    const areFunctionsAsDeployed = isEmpty(plan) && !isPending;
    const shown = (done: DeployPlan): string =>
      JSON.stringify(ofProjections === null ? done : { ...done, projections: ofProjections });
    if (areFunctionsAsDeployed && changesNothing(ofProjections)) {
      if (isJson) output.result(shown(unchanged));
      return;
    }
    await confirm(context, plan, ofProjections, consent);
    progress(`Deploying ${counted(deployment.functions.length, 'function')}`);
    const done = areFunctionsAsDeployed
      ? unchanged
      : await client.request('POST /functions/deployments/bundle', { body });
    if (ofProjections !== null) {
      await performProjections(client, deployment.projections, ofProjections);
    }
    if (isJson) {
      output.result(shown(done));
      return;
    }
    const deployedLines = areFunctionsAsDeployed ? [] : resultLines(done, deployment.version);
    const changed = changesNothing(ofProjections) ? [] : ['Successfully deployed the projections.'];
    for (const line of ['', ...deployedLines, ...changed]) output.result(line);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new CommandFailure(`The deployment failed:\n  ${refusalText(error)}`, deployFailed);
  }
}

/** @throws CommandFailure unless the plan removes and breaks nothing, or the user confirmed it */
async function confirm(
  context: Pick<Context, 'prompt'>,
  plan: DeployPlan,
  ofProjections: ProjectionPlan | null,
  consent: Consent,
): Promise<void> {
  const isAllowed = consent.allowDestructive && consent.autoConfirm;
  const open = [
    ...((isDestructive(plan) || (ofProjections?.deleted.length ?? 0) > 0) && !isAllowed
      ? ['removes something: add --allow-destructive and --auto-confirm to confirm']
      : []),
    ...(plan.breaking.length > 0 && !consent.allowBreaking
      ? ['breaks readers of records: add --allow-breaking to confirm']
      : []),
  ];
  if (open.length === 0) return;
  if (!consent.canAsk) {
    const message = `A prompt is not possible, and this deployment\n  ${open.join('\n  ')}`;
    throw new CommandFailure(message, deployFailed);
  }
  const answer = await context.prompt('Are you sure you want to continue y/n? ');
  if (/^y(es)?$/i.test(answer)) return;
  throw new CommandFailure('Not deployed', deployFailed);
}

/** Reports phases: as a bar on a terminal, otherwise line by line. */
function showProgress(output: Output, total: number): (phase: string) => void {
  let begun = 0;
  return (phase) => {
    const share = Math.min(1, begun / total);
    begun += 1;
    const progress = { phase, share, perSecond: null, secondsLeft: null };
    if (output.isWatched) output.status(progressLine(progress, true));
    else output.note(phase);
  };
}

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
    'on-change': ['--on-change', 'the on-change function of that name'],
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
      throw usageError('Choose one of --sync, --action, --on-event and --on-change');
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
