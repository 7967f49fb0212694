import { ApiError } from '#client/index.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import type { CompiledFunction } from '../compiler/compile.ts';
import { mayPrompt, stopOnInterrupt, type Context } from '../context.ts';
import type { DryConnections } from '../dryrun/connections.ts';
import { Journal } from '../dryrun/journal.ts';
import type { DryRunRequest, DryRunSession } from '../dryrun/session.ts';
import { dryRunFailure, isOk, showEnd } from '../dryrun/show.ts';
import { CommandFailure, exitCodes, usageError } from '../exit.ts';
import { fakesEnvironment } from '../fakes/running-fakes.ts';
import { jsonOption } from '../json-option.ts';
import { requireProject } from '../project.ts';
import { refusalText } from '../refusal-text.ts';
import { targetOf } from '../secret-key.ts';
import { environmentOption } from '../service-command.ts';
import { compileStep } from './compile.ts';

const options = {
  environment: environmentOption,
  integration: ['-i, --integration <id>', 'if several integrations have a function of that name'],
  'integration-id': ['--integration-id <id>', 'the same as --integration'],
  input: ['--input <json>', 'input of an action; @file.json reads a file'],
  metadata: [
    '-m, --metadata <json>',
    "metadata in place of the connection's; @file.json reads a file",
  ],
  checkpoint: ['-c, --checkpoint <json>', 'the first checkpoint; @file.json reads a file'],
  lastSyncDate: ['-l, --lastSyncDate <date>', 'time of the last sync'],
  variant: ['--variant <name>', 'variant of the sync (base)'],
  validate: ['--validate', 'a schema violation ends the run'],
  validation: ['--validation', 'the same as --validate'],
  'input-validation': [
    '--input-validation <mode>',
    'an input that does not fit ends the run (error), or is a warning (warn); error if absent',
  ],
  save: ['--save', 'write <integration>/tests/<name>.test.json; implies --validate'],
  'save-responses': ['--save-responses', 'the same as --save'],
  replay: ['--replay', 'use the responses saved by --save; needs neither connection nor service'],
  diagnostics: ['--diagnostics', 'print duration and memory'],
  json: ['--json', 'one JSON document: {status, output, results, messages, error}'],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

/** A replay takes these from the saved file, or they concern the service. */
const notReplayed = [
  'environment',
  'input',
  'metadata',
  'checkpoint',
  'lastSyncDate',
  'variant',
  'validate',
  'validation',
  'input-validation',
  'save',
  'save-responses',
  'diagnostics',
] as const;

const failed = { exitCode: exitCodes.dryRunFailed } as const;

export const dryrun = defineCommand({
  name: 'dryrun',
  usage: '[function] [connection]',
  summary: 'Run a function locally, with a connection of the service',
  about: `Compiles the project and runs the function on this machine, in the sandbox of deployed functions.
Connection and integration are read from the service and requests to the provider go through its proxy.
Requests to the provider are real: what they change there stays changed. Nothing is stored here: changes of records are
printed instead. A function is given by its name or its file.

The key of the environment needs the scopes environment:connections:read, environment:integrations:read and
environment:proxy; environment:connections:read_credentials too if the function reads credentials.`,
  options,
  help: `Examples
  svc dryrun contacts acme -e dev
  svc dryrun create-contact acme -e dev --input '{"name":"Ada"}' --validate
  svc dryrun crm/syncs/contacts acme -e dev --checkpoint '{"since":"2026-01-01"}' --save
  svc dryrun crm/syncs/contacts --replay`,

  async run({ positionals, values }, context) {
    requireProject(context.root);
    if (values.replay === true) {
      await replay(context, values, positionals);
      return;
    }
    const input = givenOf(context, values);
    const canAsk = mayPrompt(context, values.interactive);
    const prompt = async (question: string): Promise<string> => {
      const answer = canAsk ? await context.prompt(`${question}: `) : '';
      if (answer !== '') return answer;
      throw usageError(`Missing: ${question}`);
    };
    const name = positionals[0] ?? (await prompt('Function'));
    const connectionId = positionals[1] ?? (await prompt('Connection'));
    const { environment, secretKey } = await targetOf(context, values.environment, {
      canAsk,
      exitCode: exitCodes.failure,
    });
    await using sandbox = await context.openSandbox();
    const { functions } = await compileStep(context, values, sandbox);
    const isSaved = values.save === true || values['save-responses'] === true;
    const isValidated = isSaved || values.validate === true || values.validation === true;
    using stopping = stopOnInterrupt(context);
    const client = context.openClient(secretKey);
    const { DryConnections } = await import('../dryrun/connections.ts');
    const session: DryRunSession = {
      client,
      sandbox,
      environment,
      functions,
      connections: new DryConnections(client),
      journal: new Journal(),
      say: (level, message) => say(context, level, message),
      isValidated,
      isInputValidated: isValidated || isRefusing(values['input-validation']),
      signal: stopping.signal,
    };
    try {
      const fn = await findFunction(
        session,
        name,
        connectionId,
        values.integration ?? values['integration-id'],
      );
      context.output.note(
        environment === fakesEnvironment
          ? `Requests go to the fake of the provider, with the connection ${connectionId}.`
          : `Requests to the provider are real, with the connection ${connectionId} of ${environment}.`,
      );
      const order = { fn, connectionId, ...input, depth: 0 };
      await perform(context, session, order, { values, isSaved, canAsk });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new CommandFailure(refusalText(error), failed);
    }
  },
});

/** Whether an input that does not fit is refused. */
function isRefusing(mode = 'error'): boolean {
  if (mode !== 'error' && mode !== 'warn') {
    throw usageError('--input-validation takes error or warn');
  }
  return mode === 'error';
}

interface DisplayOptions {
  readonly values: Values;
  readonly isSaved: boolean;
  readonly canAsk: boolean;
}

async function perform(
  context: Context,
  session: DryRunSession,
  order: DryRunRequest,
  { values, isSaved, canAsk }: DisplayOptions,
): Promise<void> {
  const { output } = context;
  const started = performance.now();
  const { dryRun } = await import('../dryrun/run.ts');
  const end = await dryRun(session, order);
  if (session.signal.aborted) throw interrupted();
  const ended = { kind: order.fn.entry.kind, end, batches: session.journal };
  await showEnd(context, ended, showingOf(values, canAsk));
  if (isOk(end) && isSaved) {
    const { saveMocks } = await import('../dryrun/saved-mocks.ts');
    output.note(`Saved ${await saveMocks(context.root, session, order, end)}`);
  }
  if (values.diagnostics === true) {
    const seconds = (performance.now() - started) / 1000;
    const megabytes = process.memoryUsage.rss() / 1024 ** 2;
    const { user, system } = process.cpuUsage();
    output.note(
      `Took ${seconds.toFixed(2)} s; this process: ${((user + system) / 1e6).toFixed(2)} s of processor time, ${Math.round(megabytes)} MB`,
    );
  }
  if (!isOk(end)) throw dryRunFailure(end, context);
}

const showingOf = (values: Values, canAsk: boolean) => ({
  isJson: values.json === true,
  isAsked: canAsk && values['auto-confirm'] !== true,
});

/** Without service and connection. */
async function replay(context: Context, values: Values, words: readonly string[]): Promise<void> {
  const refused = notReplayed.find((name) => values[name] !== undefined);
  if (refused !== undefined) {
    const message = `--${refused} cannot be combined with --replay, which uses the saved mocks`;
    throw usageError(message);
  }
  const [name, ...others] = words;
  if (name === undefined || others.length > 0) {
    throw usageError('dryrun --replay takes a function');
  }
  await using sandbox = await context.openSandbox();
  const { functions } = await compileStep(context, values, sandbox);
  const [fn, another] = functionsNamed(
    functions,
    name,
    values.integration ?? values['integration-id'],
  );
  if (another !== undefined) throw ambiguous(name, [fn, another]);
  using stopping = stopOnInterrupt(context);
  const { replaySaved } = await import('../dryrun/saved-mocks.ts');
  const finished = await replaySaved(context.root, sandbox, fn, stopping.signal);
  if (stopping.signal.aborted) throw interrupted();
  await showEnd(context, finished, showingOf(values, mayPrompt(context, values.interactive)));
  if (!isOk(finished.end)) throw dryRunFailure(finished.end, context);
}

const interrupted = (): CommandFailure =>
  new CommandFailure('Interrupted', { exitCode: exitCodes.interrupted });

function say({ output }: Context, level: string, message: string): void {
  const color = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'gray';
  const head = message.startsWith('http [') ? '' : `${level}: `;
  output.note(output.paint(color, `${head}${message}`));
}

/** The function of that name; of several, the one whose integration has the connection. */
async function findFunction(
  session: DryRunSession,
  name: string,
  connectionId: string,
  integrationKey: string | undefined,
): Promise<CompiledFunction> {
  const found = functionsNamed(session.functions, name, integrationKey);
  if (found.length === 1) return found[0];
  const having: CompiledFunction[] = [];
  for (const fn of found) {
    const ref = { integrationKey: fn.entry.integrationKey, connectionId };
    if (await isThere(session, ref)) having.push(fn);
  }
  const [only, other] = having;
  if (only !== undefined && other === undefined) return only;
  throw ambiguous(name, found);
}

/** At least one. @throws CommandFailure */
function functionsNamed(
  functions: readonly CompiledFunction[],
  name: string,
  integrationKey: string | undefined,
): [CompiledFunction, ...CompiledFunction[]] {
  const [first, ...others] = functions.filter(
    ({ entry }) =>
      (entry.name === name || entry.file === `${name.replace(/\.ts$/, '')}.ts`) &&
      (integrationKey === undefined || entry.integrationKey === integrationKey),
  );
  if (first === undefined) throw unknownFunction(functions, name, integrationKey);
  return [first, ...others];
}

/** Lists the existing ones, because a name is easily mistyped. */
function unknownFunction(
  functions: readonly CompiledFunction[],
  name: string,
  integrationKey: string | undefined,
): CommandFailure {
  const suffix = integrationKey === undefined ? '' : ` of "${integrationKey}"`;
  const files = functions.map(({ entry }) => `  ${entry.file.replace(/\.ts$/, '')}`);
  const message = `index.ts names no function "${name}"${suffix}. It names\n${files.join('\n')}`;
  return new CommandFailure(message, failed);
}

function ambiguous(name: string, found: readonly CompiledFunction[]): CommandFailure {
  const files = found.map(({ entry }) => entry.file).join(', ');
  const message = `"${name}" is ${files}: choose with --integration, or name the file`;
  return new CommandFailure(message, failed);
}

async function isThere(
  { connections }: DryRunSession,
  name: Parameters<DryConnections['connection']>[0],
): Promise<boolean> {
  try {
    await connections.connection(name);
    return true;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 400 || error.status === 404)) return false;
    throw error;
  }
}

function givenOf(context: Context, values: Values): Pick<DryRunRequest, 'input' | 'stubs'> {
  const metadata = jsonOption(context, 'metadata', values.metadata);
  const checkpoint = jsonOption(context, 'checkpoint', values.checkpoint);
  const last = values.lastSyncDate;
  const lastSync = last === undefined ? null : new Date(last);
  if (lastSync !== null && Number.isNaN(lastSync.getTime())) {
    throw usageError(`--lastSyncDate takes a date such as 2026-05-01, not "${last ?? ''}"`);
  }
  if (metadata !== undefined && !isJsonObject(metadata)) {
    throw new CommandFailure('--metadata takes a JSON object');
  }
  if (checkpoint !== undefined && !isFlat(checkpoint)) {
    throw new CommandFailure(
      '--checkpoint takes a flat JSON object of strings, numbers and booleans',
    );
  }
  return {
    input: jsonOption(context, 'input', values.input),
    stubs: {
      metadata: metadata ?? null,
      checkpoint: checkpoint ?? null,
      lastSyncDate: lastSync?.toISOString() ?? null,
      variant: values.variant ?? 'base',
    },
  };
}

const isFlat = (value: Json): value is JsonObject =>
  isJsonObject(value) &&
  Object.values(value).every((item) => ['string', 'number', 'boolean'].includes(typeof item));
