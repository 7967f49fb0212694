import { writeFileSync, readdirSync, watch, type FSWatcher } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '#client/index.ts';
import { defineCommand } from '../command.ts';
import { framedProblem } from '../compiler/code-frame.ts';
import type {
  CompileResult,
  ProjectCompiler,
  CompiledFunction,
  CompiledProjection,
} from '../compiler/compile.ts';
import { CompileError } from '../compiler/problem.ts';
import { writeCompiled } from '../compiler/write.ts';
import type { Context } from '../context.ts';
import { HotDeployment } from '../deploy/hot-deployment.ts';
import type { LocalProject } from '../deploy/missing-integrations.ts';
import { usageError } from '../exit.ts';
import { fixturesFolder, generatedFolders } from '../project-layout.ts';
import { requireProject } from '../project.ts';
import { refusalText } from '../refusal-text.ts';
import { tsconfigText } from '../scaffold.ts';
import { environmentNamed } from '../secret-key.ts';
import { environmentOption } from '../service-command.ts';
import { prepareProject, showProgress } from './compile.ts';

/** Editors write a file in several steps: changes within this time are one change. */
const settleMs = 15;
/** Within this time a Ctrl-C that ended another part of this program also reaches this part. */
const interruptMs = 50;

export const dev = defineCommand({
  name: 'dev',
  usage: '[environment]',
  summary: 'Watch the functions, check and build changes',
  about: `Type-checks and rebuilds changed functions and those that import a changed file, until Ctrl-C. If the
service runs on this machine and a key of the environment is set, built functions and projections are
deployed to it at once; the functions keep log lines of every level for an hour. Nothing is ever removed from the service: use svc deploy, which asks.

With --fakes it starts a gateway of its own, whose providers are fakes made from the fixtures of the project
(svc add): functions run without an account. Meanwhile other commands in this folder mean that gateway
(environment fakes). Its data is gone at the end.`,
  options: {
    environment: environmentOption,
    fakes: ['--fakes', 'run the functions on fakes of their providers, without an account'],
    deploy: ['--no-deploy', 'only check and build'],
    json: ['--json', 'one line of JSON per round: {changed, problems, deployed, milliseconds}'],
  },
  help: `Examples
  svc dev
  svc dev --fakes
  svc dev staging --json
  svc dev --no-deploy`,

  async run({ positionals, values }, context) {
    requireProject(context.root);
    prepareProject(context, values);
    writeFileSync(join(context.root, 'tsconfig.json'), tsconfigText);
    const named = environmentNamed(positionals[0], values.environment);
    const isJson = values.json === true;
    if (values.fakes === true) {
      if (named !== undefined || values.deploy === false)
        throw usageError('--fakes has an environment of its own, to which it deploys');
      // Fakes and fixtures load slowly.
      const { FakedDeployment } = await import('../fakes/faked-deployment.ts');
      await using deployment = new FakedDeployment(context, { isJson });
      await watchProject(context, { deployment, isJson });
      return;
    }
    const environment = named ?? context.environment.name;
    const key = values.deploy === false ? null : localKey(context, environment);
    const deployment = key === null ? null : new HotDeployment(context.openClient(key));
    if (deployment === null && values.deploy !== false && !isJson) {
      context.output
        .note(`Only checks and builds: there is no key of ${environment}, or its service is elsewhere.
npx svc dev --fakes runs the functions too, on fakes of their providers, without an account.`);
    }
    await watchProject(context, { deployment, isJson });
  },
});

/** The key of the environment, if the service runs on this machine. */
function localKey({ environment }: Context, name: string): string | null {
  const key = environment.secretKey(name);
  if (key === null) return null;
  const { hostname } = new URL(environment.hostOf(key));
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname) ? key : null;
}

/** Deploys functions and projections as they change. */
interface Deployment {
  /** Resolves with the functions that were new or changed. @throws ApiError */
  bring(project: LocalProject): Promise<readonly CompiledFunction[]>;
  /** Resolves with the projections that were new or changed. @throws ApiError */
  bringProjections(
    projections: readonly CompiledProjection[],
  ): Promise<readonly CompiledProjection[]>;
}

interface WatchState {
  readonly deployment: Deployment | null;
  readonly isJson: boolean;
}

async function watchProject(context: Context, state: WatchState): Promise<void> {
  const { root, own, output } = context;
  let wake = Promise.withResolvers<undefined>();
  const stopping = new AbortController();
  const stopListening = context.onInterrupt(() => {
    stopping.abort();
    wake.resolve(undefined);
  });
  using _watch = new FileWatch(root, () => wake.resolve(undefined));
  await using sandbox = await context.openSandbox();
  const progress = state.isJson ? () => undefined : showProgress(output);
  await using compiler = await context.openCompiler({ root, own, sandbox, progress });
  try {
    for (;;) {
      wake = Promise.withResolvers<undefined>();
      await round(context, compiler, state);
      await wake.promise;
      if (stopping.signal.aborted) return;
      await pause(settleMs);
    }
  } catch (error) {
    // Ctrl-C also reaches the bundler's own process: its failures are then the requested end.
    await pause(interruptMs);
    if (!stopping.signal.aborted) throw error;
  } finally {
    stopListening();
  }
}

interface Round {
  readonly changed: readonly string[];
  readonly deployed: readonly string[];
  /** As printed. */
  readonly problems: readonly string[];
  readonly milliseconds: number;
}

/** Compiles and deploys once; prints problems and waits for the next change. */
async function round(
  context: Context,
  compiler: ProjectCompiler,
  { deployment, isJson }: WatchState,
): Promise<void> {
  const { root, output } = context;
  const started = performance.now();
  try {
    const compiled = await compiler.compile();
    const changed = writeCompiled(root, compiled).map(({ entry }) => entry.file);
    const { deployed, problems } = await bring(context, deployment, compiled);
    const milliseconds = Math.round(performance.now() - started);
    report(context, isJson, { changed, deployed, problems, milliseconds });
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    const paint = isJson ? (_color: unknown, text: string) => text : output.paint;
    const problems = error.problems.map((problem) => framedProblem(root, problem, 'err', paint));
    const milliseconds = Math.round(performance.now() - started);
    if (!isJson) problems.push(output.paint('red', error.message));
    report(context, isJson, { changed: [], deployed: [], problems, milliseconds });
  }
}

async function bring(
  { root, output }: Context,
  deployment: Deployment | null,
  { functions, projections }: CompileResult,
): Promise<{ deployed: readonly string[]; problems: readonly string[] }> {
  try {
    const note = (line: string): void => output.note(line);
    const deployed = [
      ...((await deployment?.bring({ root, functions, note })) ?? []),
      ...((await deployment?.bringProjections(projections)) ?? []),
    ];
    return { deployed: deployed.map(({ entry }) => entry.file), problems: [] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { deployed: [], problems: [`Not deployed: ${refusalText(error)}`] };
  }
}

function report({ output }: Context, isJson: boolean, round: Round): void {
  if (isJson) {
    output.result(JSON.stringify(round));
    return;
  }
  const { changed, deployed, problems, milliseconds } = round;
  for (const problem of problems) output.note(problem);
  if (problems.length > 0) return;
  for (const file of changed) output.note(output.paint('gray', `built ${file}`));
  for (const file of deployed) output.note(output.paint('gray', `deployed ${file}`));
  output.result(output.paint('green', `no error (${milliseconds} ms)`));
}

/** Calls the listener whenever a function or fixture below the folder is created, changed, renamed or removed. */
class FileWatch implements Disposable {
  readonly #onChange: () => void;
  readonly #folders = new Map<string, FSWatcher>();

  constructor(root: string, onChange: () => void) {
    this.#onChange = onChange;
    this.#add(root);
  }

  /** One watcher per folder: a recursive one would also watch installed packages. */
  #add(folder: string): void {
    if (this.#folders.has(folder)) return;
    const watcher = watch(folder, (event, name) => this.#notified(folder, event, name));
    watcher.on('error', () => this.#drop(folder));
    this.#folders.set(folder, watcher);
    for (const entry of this.#entriesOf(folder)) {
      if (entry.isDirectory() && !generatedFolders.has(entry.name))
        this.#add(join(folder, entry.name));
    }
  }

  #notified(folder: string, event: string, name: string | null): void {
    const isFixture = basename(folder) === fixturesFolder && name?.endsWith('.json') === true;
    if (name?.endsWith('.ts') === true || isFixture) this.#onChange();
    else if (event === 'rename') this.#rescan(folder);
  }

  /** A folder appeared or disappeared, with unwatched files in it. */
  #rescan(folder: string): void {
    const before = this.#folders.size;
    for (const entry of this.#entriesOf(folder)) {
      if (entry.isDirectory() && !generatedFolders.has(entry.name))
        this.#add(join(folder, entry.name));
    }
    if (this.#folders.size !== before) this.#onChange();
  }

  #entriesOf(folder: string) {
    try {
      return readdirSync(folder, { withFileTypes: true });
    } catch {
      // It was removed again: nothing is left to watch.
      this.#drop(folder);
      return [];
    }
  }

  #drop(folder: string): void {
    this.#folders.get(folder)?.close();
    this.#folders.delete(folder);
  }

  [Symbol.dispose](): void {
    for (const folder of [...this.#folders.keys()]) this.#drop(folder);
  }
}
