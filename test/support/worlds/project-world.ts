import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  connectionOf,
  integrationOf,
  openProjectFakes,
  type IntegrationFake,
  type ProjectFakes,
} from '#cli/fakes/project-fakes.ts';
import { isObjectFixture } from '#fake-providers/objects/fixture.ts';
import { commandLine, KeptCompilers, type Ended } from '../processes/command-line.ts';
import { startGateway, type RunningGateway } from '../processes/gateway.ts';
import { succeeded } from './crm-world.ts';
import { functionsProject } from './functions-project.ts';
import { sharedSandbox } from './shared-sandbox.ts';

/** A project of functions, and a gateway with a connection `demo` of each of its integrations. */
export interface ProjectWorld extends AsyncDisposable {
  readonly root: string;
  readonly gateway: RunningGateway;
  /** A command line in the project, with the keys of the gateway. */
  svc(args: readonly string[], more?: Partial<Parameters<typeof commandLine>[1]>): Promise<Ended>;
}

/** The same with functions of templates, on the fakes of their fixtures. */
export interface TemplateProject extends ProjectWorld {
  readonly fakes: ProjectFakes;
}

export interface ProjectProviders {
  /** For `SVC_EGRESS_ALLOW`. */
  readonly hostPort: string;
  /** For a file of `SVC_PROVIDERS`. */
  readonly definitions: Readonly<Record<string, object>>;
  readonly integrations: readonly IntegrationFake[];
}

/** @param root of the project, which its maker removes */
export async function openProjectWorld(
  root: string,
  { hostPort, definitions, integrations }: ProjectProviders,
): Promise<ProjectWorld> {
  await using stack = new AsyncDisposableStack();
  const file = join(root, '.svc', 'providers.json');
  writeFileSync(file, JSON.stringify(definitions));
  const gateway = stack.use(
    await startGateway({ env: { SVC_PROVIDERS: file, SVC_EGRESS_ALLOW: hostPort } }),
  );
  for (const fake of integrations) {
    const integration = { body: integrationOf(fake) };
    succeeded(await gateway.call('POST', '/integrations', integration));
    const connection = { body: connectionOf(fake, 'demo', metadataOf(fake)) };
    succeeded(await gateway.call('POST', '/connections', connection));
  }
  const sandbox = await sharedSandbox();
  const compilers = stack.use(new KeptCompilers());
  const variables = { SVC_HOSTPORT: gateway.url, SVC_SECRET_KEY_DEV: gateway.key, CI: '1' };
  const opened = stack.move();
  return {
    root,
    gateway,
    svc: (args, more) => commandLine(args, { root, sandbox, compilers, variables, ...more }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** What the functions of an integration need. */
const metadataOf = ({ fixtures }: IntegrationFake) =>
  Object.assign(
    {},
    ...[...fixtures.values()].map((fixture) =>
      isObjectFixture(fixture) ? fixture.metadata : undefined,
    ),
  ) as Record<string, string>;

/**
 * Adds the templates to an empty project as `svc add` does. An action gets the response of its most similar case.
 * @param templates such as `jira/projects`
 */
export async function openTemplateProject(templates: readonly string[]): Promise<TemplateProject> {
  await using stack = new AsyncDisposableStack();
  const project = stack.use(functionsProject({}));
  const { root } = project;
  const sandbox = await sharedSandbox();
  for (const template of templates) {
    const added = await commandLine(['add', template], { root, sandbox, variables: { CI: '1' } });
    if (added.exitCode !== 0) throw new Error(`${template}: ${added.err}`);
  }
  const fakes = stack.use(await openProjectFakes(root));
  const integrations = fakes.integrationKeys.map((key) => fakes.of(key));
  for (const { api } of integrations) api.answersFromCases = true;
  const { hostPort } = fakes;
  const definitions = fakes.definitions();
  const world = stack.use(await openProjectWorld(root, { hostPort, definitions, integrations }));
  const opened = stack.move();
  return { ...world, fakes, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
