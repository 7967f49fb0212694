import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import type { Sandbox } from '#ports/sandbox.ts';
import { ProjectCompiler, type CompiledFunction } from '../compiler/compile.ts';
import type { Entry } from '../compiler/entries.ts';
import { CompileError } from '../compiler/problem.ts';
import { deployRequest } from '../deploy/package.ts';
import { startFakedGateway, type FakedGateway } from '../fakes/gateway-process.ts';
import {
  integrationOf,
  openProjectFakes,
  type IntegrationFake,
  type ProjectFakes,
} from '../fakes/project-fakes.ts';
import { ownPackage } from '../package.ts';

/** What the templates of a project are tested on: one for all test files of a process. */
interface TemplateWorld {
  readonly fakes: ProjectFakes;
  readonly gateway: FakedGateway;
  readonly sandbox: Sandbox;
  /** Starts its type checker once; a function takes it when the one before is compiled. */
  readonly compiler: ProjectCompiler;
  /** Integrations that exist. */
  readonly integrations: Set<string>;
}

const worlds = new Map<string, Promise<TemplateWorld>>();

async function openWorld(root: string): Promise<TemplateWorld> {
  const fakes = await openProjectFakes(root);
  const { version } = ownPackage();
  const { hostPort } = fakes;
  const [gateway, sandbox] = await Promise.all([
    startFakedGateway({ definitions: fakes.definitions(), hostPort, version }),
    openSandbox({ childrenMax: 1 }),
  ]);
  const parts = { root, own: ownPackage(), sandbox, progress: () => undefined };
  const compiler = new ProjectCompiler(parts);
  return { fakes, gateway, sandbox, compiler, integrations: new Set() };
}

/** Ends the gateway and the fakes of a project; otherwise they end with the process. */
export async function closeTemplateWorld(root: string): Promise<void> {
  const world = worlds.get(root);
  worlds.delete(root);
  if (world === undefined) return;
  const { fakes, gateway, sandbox, compiler } = await world;
  await gateway[Symbol.asyncDispose]();
  await compiler[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await fakes[Symbol.asyncDispose]();
}

/** A function of a template, deployed beside the fake of its provider. */
export interface DeployedTemplate {
  readonly entry: Entry;
  readonly fake: IntegrationFake;
  readonly gateway: FakedGateway;
}

const compiled = new Map<string, Promise<CompiledFunction>>();
let lastCompiled: Promise<unknown> = Promise.resolve();

/** Compiles the function as `svc deploy` does. @throws Error with every problem */
export async function compileTemplate(root: string, entry: Entry): Promise<CompiledFunction> {
  const { compiler } = await worldOf(root);
  const existing = compiled.get(entry.path);
  if (existing !== undefined) return existing;
  const compiling = lastCompiled.then(() => compileEntry(compiler, entry));
  lastCompiled = compiling.catch(() => undefined);
  compiled.set(entry.path, compiling);
  return compiling;
}

async function compileEntry(compiler: ProjectCompiler, entry: Entry): Promise<CompiledFunction> {
  const { functions } = await compiler.compile([entry]).catch((error: unknown) => {
    if (!(error instanceof CompileError)) throw error;
    const problems = error.problems.map(({ file, line, message }) => `${file}:${line} ${message}`);
    throw new Error(problems.join('\n'), { cause: error });
  });
  const [fn] = functions;
  if (fn === undefined) throw new Error(`${entry.file} was not compiled`);
  return fn;
}

function worldOf(root: string): Promise<TemplateWorld> {
  const world = worlds.get(root) ?? openWorld(root);
  worlds.set(root, world);
  return world;
}

/**
 * Deploys the function to the gateway, in place of the integration's others: an on-event function would add its requests
 * to those of a sync. A sync comes without its schedule, so that each run is one of the test.
 */
export async function deployTemplate(root: string, entry: Entry): Promise<DeployedTemplate> {
  const { fakes, gateway, integrations } = await worldOf(root);
  const { integrationKey } = entry;
  const fake = fakes.of(integrationKey);
  const { client } = gateway;
  if (!integrations.has(integrationKey)) {
    await client.request('POST /integrations', { body: integrationOf(fake) });
    integrations.add(integrationKey);
  }
  const fn = await compileTemplate(root, entry);
  const { artifact } = fn;
  const unscheduled = artifact.type === 'sync' ? { ...artifact, auto_start: false } : artifact;
  const scope = { kind: 'integration', integrationId: integrationKey } as const;
  const body = deployRequest(scope, [{ ...fn, artifact: unscheduled }]);
  await client.request('POST /functions/deployments/bundle', { body });
  return { entry, fake, gateway };
}
