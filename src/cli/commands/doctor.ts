import { showRows } from '../columns.ts';
import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import {
  envFinding,
  keyFinding,
  nodeFinding,
  operatorFindings,
  projectFindings,
  serviceFindings,
  type Finding,
} from '../doctor/checks.ts';
import { CommandFailure } from '../exit.ts';
import { environmentNamed } from '../secret-key.ts';
import { environmentOption } from '../service-command.ts';

const colors = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

export const doctor = defineCommand({
  name: 'doctor',
  usage: '[environment]',
  summary: 'Check the project and the service, and suggest fixes',
  about: `Checks Node, the project, the service, its clock and the key of an environment; with a
key of the account also projections and dead letters. Each line is ok, warn or fail.`,
  options: {
    environment: environmentOption,
    json: ['--json', 'the findings as JSON: {what, state, said, mend}'],
  },
  help: `Variables
  SVC_SECRET_KEY_<ENVIRONMENT>   API key of the environment
  SVC_ACCOUNT_KEY                API key of the account
  SVC_HOSTPORT                   address of the service (http://localhost:3003)

Exit codes
  0 nothing failed   1 something failed

Examples
  svc doctor
  svc doctor prod --json`,

  async run({ positionals, values }, context) {
    const named = environmentNamed(positionals[0], values.environment);
    const findings = await lookAround(context, named ?? context.environment.name);
    const { output } = context;
    if (values.json === true) output.result(JSON.stringify(findings.map(shownFinding)));
    else for (const finding of findings) output.result(line(context, finding));
    const failed = findings.filter(({ state }) => state === 'fail').length;
    if (failed > 0) throw new CommandFailure(`${failed} of ${findings.length} checks failed`);
  },
});

async function lookAround(context: Context, environment: string): Promise<Finding[]> {
  const { host, accountKey } = context.environment;
  const open = (key: string) => context.openClient(key);
  const env = envFinding(context);
  const service = await serviceFindings(open(''), host);
  const isUp = service.every(({ what, state }) => what !== 'service' || state === 'ok');
  return [
    nodeFinding(),
    ...(await projectFindings(context)),
    ...(env === null ? [] : [env]),
    ...service,
    ...(isUp ? [await keyFinding(context, environment, open)] : []),
    ...(isUp && accountKey !== null ? await operatorFindings(open(accountKey)) : []),
  ];
}

/** The documented names of the JSON output. */
const shownFinding = ({ reported: said, ...finding }: Finding) => ({ ...finding, said });

function line({ output }: Context, { what, state, reported: fields, mend }: Finding): string {
  const head = `${output.paint(colors[state], state.padEnd(4))}  ${what.padEnd(18)}  ${fields}`;
  return mend === undefined ? head : `${head}\n      ${mend}`;
}

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
