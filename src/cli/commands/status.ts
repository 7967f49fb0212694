import type { Client } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { accountHelp, withAccount } from '../account.ts';
import { columns, showRows } from '../columns.ts';
import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import {
  serviceFindings,
  envFinding,
  keyFinding,
  nodeFinding,
  operatorFindings,
  projectFindings,
  type Finding,
} from '../doctor/checks.ts';
import { CommandFailure } from '../exit.ts';
import { environmentNamed } from '../secret-key.ts';
import { inEnvironment, environmentOption } from '../service-command.ts';

export const status = defineCommand({
  name: 'status',
  usage: '[environment]',
  summary: 'Show whether the service works',
  about: `Health and readiness of the service, lag of projections and consumer groups, parked dead letters; with the name
of an environment also its connections with an error.`,
  options: {
    environment: ['-e, --environment <name>', 'also its connections with an error'],
    json: ['--json', '{health, projections, consumers, dead_letters, connections} on stdout'],
  },
  help: `${accountHelp}
  SVC_SECRET_KEY_<ENVIRONMENT>   API key of the environment

Exit codes
  0 it works   1 it is not ready, or something is wrong   3 key missing or refused

Examples
  svc status
  svc status dev --json`,

  async run({ positionals, values }, context) {
    const { output } = context;
    const environment = environmentNamed(positionals[0], values.environment);
    const health = await serviceFindings(context.openClient(''), context.environment.host);
    const isDown = health.some(({ what, state }) => what === 'service' && state === 'fail');
    if (isDown) throw new CommandFailure(health.map(({ reported }) => reported).join('\n'));
    let failing: FailingConnection[] = [];
    if (environment !== undefined) {
      await inEnvironment(context, { ...values, environment }, async (client) => {
        failing = await failingConnections(client);
      });
    }
    let found: Installation | undefined;
    await withAccount(context, async (client) => {
      found = await installation(client);
    });
    if (found === undefined) return;
    const state = {
      health: health.map(({ what, state: is, reported }) => ({ what, state: is, said: reported })),
      ...found,
      ...(environment === undefined ? {} : { connections: failing }),
    };
    if (values.json === true) output.result(JSON.stringify(state));
    else for (const line of await lines(state)) output.result(line);
    const parked = found.dead_letters.length;
    const bad = health.filter((one) => one.state === 'fail').length + parked + failing.length;
    if (bad > 0) throw new CommandFailure('Not everything works.');
  },
});

interface FailingConnection {
  readonly integration: string;
  readonly connection: string;
  readonly errors: readonly string[];
}

async function failingConnections(client: Client): Promise<FailingConnection[]> {
  const found: FailingConnection[] = [];
  for await (const { connections } of client.pages('GET /connections', { query: {} })) {
    for (const {
      provider_config_key: integration,
      connection_id: connection,
      errors,
    } of connections) {
      if (errors.length === 0) continue;
      found.push({ integration, connection, errors: errors.map(({ type }) => type) });
    }
  }
  return found;
}

interface Installation {
  readonly projections: readonly { readonly name: string; readonly lag: number }[];
  readonly consumers: readonly { readonly name: string; readonly lag: number }[];
  /** Parked ones, at most a hundred. */
  readonly dead_letters: readonly { readonly id: string; readonly consumer: string }[];
}

async function installation(client: Client): Promise<Installation> {
  const [projections, consumers, parked] = await Promise.all([
    client.request('GET /projections'),
    client.request('GET /consumer-groups'),
    client.request('GET /dead-letters', { query: { state: 'parked' } }),
  ]);
  const lagOf = ({ name, lag }: { readonly name: string; readonly lag: number }) => ({ name, lag });
  return {
    projections: projections.data.map(lagOf),
    consumers: consumers.data.map(lagOf),
    dead_letters: parked.data.map(({ id, consumer }) => ({ id, consumer })),
  };
}

async function lines(
  state: Installation & {
    readonly health: readonly {
      readonly what: string;
      readonly state: string;
      readonly said: string;
    }[];
    readonly connections?: readonly FailingConnection[];
  },
): Promise<string[]> {
  const { health, projections, consumers, dead_letters: parked, connections } = state;
  const behind = consumers.filter(({ lag }) => lag > 0);
  const rows = [
    ...health.map(({ what, state: is, said }) => [what, is, said]),
    ...projections.map(({ name, lag }) => [`projection ${name}`, 'ok', `lag ${lag}`]),
    ['consumer groups', 'ok', `${consumers.length}, ${behind.length} of them behind`],
    ...behind.map(({ name, lag }) => [`  ${name}`, 'ok', `lag ${lag}`]),
    ['dead letters', parked.length === 0 ? 'ok' : 'fail', `${parked.length} parked`],
    ...(connections === undefined
      ? []
      : [
          [
            'connections',
            connections.length === 0 ? 'ok' : 'fail',
            `${connections.length} with an error`,
          ],
        ]),
    ...(connections ?? []).map(({ integration, connection, errors }) => [
      `  ${integration}/${connection}`,
      'fail',
      errors.join(', '),
    ]),
  ];
  return columns(['what', 'state', 'detail'], rows, 3);
}

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
    if (failed > 0)
      throw new CommandFailure(`${failed} of ${counted(findings.length, 'check')} failed`);
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
