/**
 * `npm run test:packages`: fresh projects that install the packed packages with each package manager; strict types
 * with each TypeScript and each way to resolve modules; the client and the command line on each Node.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '#test/services/commands.ts';
import { versions } from '#test/services/versions.ts';
import { checkTypes, flavors, printedBy, runOn, type Applications } from './consumer.ts';
import { packTarballs, type Tarballs } from './tarballs.ts';
import { nodeOf, tool, tscOf } from './toolbox.ts';

const managers = ['npm', 'pnpm', 'yarn'] as const;
type Manager = (typeof managers)[number];

const typesOfNode = '24.19.2';

/** ClickHouse, which neither types nor the command line need, is half a gigabyte. */
const withoutClickHouse = { chdb: 'file:./none' };

/** How each manager installs a package.json without a lock file. */
async function install(manager: Manager, folder: string): Promise<void> {
  const registry = (await run('npm', ['config', 'get', 'registry'])).trim();
  const env = { ...process.env, CI: 'false' };
  if (manager === 'npm') {
    const quiet = ['--no-fund', '--no-audit', '--loglevel=error', '--prefer-offline'];
    await run('npm', ['install', ...quiet], { cwd: folder, env });
  } else if (manager === 'pnpm') {
    // It blocks the scripts of dependencies, and here it may.
    const settings = `strictDepBuilds: false\noverrides: ${JSON.stringify(withoutClickHouse)}\n`;
    writeFileSync(join(folder, 'pnpm-workspace.yaml'), settings);
    const options = ['--prefer-offline', `--registry=${registry}`];
    await run(await tool('pnpm'), ['install', ...options], { cwd: folder, env });
  } else {
    writeFileSync(join(folder, '.yarnrc.yml'), 'nodeLinker: node-modules\n');
    writeFileSync(join(folder, 'yarn.lock'), '');
    const settings = { YARN_NPM_REGISTRY_SERVER: registry, YARN_ENABLE_TELEMETRY: '0' };
    const immutable = { YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' };
    const yarn = await tool('@yarnpkg/cli-dist');
    await run(yarn, ['install'], { cwd: folder, env: { ...env, ...settings, ...immutable } });
  }
}

/** A fresh project with these packages, from files or of a version. */
async function project(
  folder: string,
  manager: Manager,
  dependencies: Readonly<Record<string, string>>,
): Promise<string> {
  mkdirSync(join(folder, 'none'), { recursive: true });
  writeFileSync(join(folder, 'none/package.json'), '{ "name": "chdb", "version": "3.4.0" }\n');
  const manifest = {
    private: true,
    dependencies,
    overrides: withoutClickHouse,
    resolutions: withoutClickHouse,
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  await install(manager, folder);
  return folder;
}

const clientName = '@integration-gateway/svc-client';

type Report = (what: string, check: () => Promise<unknown>) => Promise<void>;

async function checkAllTypes(
  folder: string,
  what: string,
  applications: Applications,
  report: Report,
): Promise<void> {
  for (const version of versions.typescript) {
    const tsc = await tscOf(version);
    for (const flavor of flavors) {
      const { resolution, format } = flavor;
      await report(
        `${what}, ${applications.globals}, TypeScript ${version}, ${resolution}, ${format}`,
        () => checkTypes(folder, tsc, flavor, applications),
      );
    }
  }
}

async function checkClient(root: string, manager: Manager, { client }: Tarballs, report: Report) {
  const folder = await project(join(root, `client-${manager}`), manager, {
    [clientName]: `file:${client}`,
    '@types/node': typesOfNode,
  });
  const what = `the client by ${manager}`;
  const clients = [clientName];
  for (const globals of manager === 'npm' ? (['node', 'dom'] as const) : (['node'] as const))
    await checkAllTypes(folder, what, { clients, functions: false, globals }, report);
  for (const version of versions.node) {
    await report(`${what} on Node ${version}`, async () => {
      const printed = await runOn(await nodeOf(version), folder, clientName);
      const expected = printedBy(Number(version.split('.')[0]));
      if (printed.join() !== expected.join()) throw new Error(`It printed ${printed.join()}`);
    });
  }
}

async function checkWhole(root: string, manager: Manager, { svc }: Tarballs, report: Report) {
  const folder = await project(join(root, `svc-${manager}`), manager, {
    svc: `file:${svc}`,
    zod: '4.6.7',
    '@types/node': typesOfNode,
  });
  const what = `svc by ${manager}`;
  const applications = { clients: ['svc/client'], functions: true, globals: 'node' } as const;
  await checkAllTypes(folder, what, applications, report);
  const launcher = join(folder, 'node_modules/svc/bin/svc.js');
  for (const version of versions.node) {
    await report(`${what} on Node ${version}: svc init and compile`, async () => {
      const node = await nodeOf(version);
      const name = `functions-${version}`;
      await run(node, [launcher, 'init', name, '--copy'], { cwd: folder });
      const cwd = join(folder, name);
      await run(node, [launcher, 'compile', '--no-dependency-update'], { cwd });
    });
  }
}

/** A new project on a machine that has nothing but the packed file. */
async function checkStart(root: string, { svc }: Tarballs): Promise<void> {
  const folder = join(root, 'start');
  mkdirSync(folder);
  const env = { ...process.env, CI: '' };
  const packed = ['exec', '--yes', '--package', `file:${svc}`, '--'];
  await run('npm', [...packed, 'svc', 'init', 'functions'], { cwd: folder, env });
  const printed = await run('npx', ['svc', 'test'], { cwd: join(folder, 'functions'), env });
  if (!printed.includes('3 passed')) throw new Error(printed);
}

/**
 * @returns what is wrong; empty when nothing is
 * @throws ServiceUnavailable where a tool cannot be fetched
 */
export async function matrix(): Promise<readonly string[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-matrix-')));
  const problems: string[] = [];
  const report: Report = async (what, check) => {
    try {
      await check();
      console.log(`ok ${what}`);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      console.log(`FAILED ${what}\n${message}`);
      problems.push(`${what}: ${message}`);
    }
  };
  try {
    const tarballs = await packTarballs(root);
    await report('svc init from the packed file', () => checkStart(root, tarballs));
    for (const manager of managers) {
      await report(`the client by ${manager}`, () => checkClient(root, manager, tarballs, report));
      await report(`svc by ${manager}`, () => checkWhole(root, manager, tarballs, report));
      rmSync(join(root, `svc-${manager}`), { recursive: true, force: true });
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return problems;
}

if (import.meta.main) {
  const problems = await matrix();
  console.log(`\n${problems.length} problems`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
