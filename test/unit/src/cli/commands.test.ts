import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployServer, emptyPlan, type DeployServer } from '#test/support/fakes/deploy-server.ts';
import { commandLine, type Ended } from '#test/support/processes/command-line.ts';
import { functionsProject } from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

const sandbox = await sharedSandbox();
let server: DeployServer;
let folder: string;

beforeAll(async () => {
  server = await deployServer();
  folder = mkdtempSync(join(tmpdir(), 'svc-cli-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server[Symbol.asyncDispose]();
});

interface With {
  readonly root?: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly answers?: readonly string[];
}

const svc = (args: readonly string[], options: With = {}): Promise<Ended> =>
  commandLine(args, { root: folder, sandbox, ...options });

const read = (root: string, file: string): string => readFileSync(join(root, file), 'utf8');

describe('svc', () => {
  it('explains itself without a command, as a failure', async () => {
    const ended = await svc([]);
    expect(ended).toMatchObject({ exitCode: 1, out: '' });
    expect(ended.err).toContain('deploy [environment]');
  });

  it.each([['--help'], ['-h'], ['help']])('explains itself with %s', async (word) => {
    const ended = await svc([word]);
    expect(ended).toMatchObject({ exitCode: 0, err: '' });
    expect(ended.out).toContain('Exit codes');
    expect(ended.out, 'a summary stands apart from its command').not.toMatch(/[\]>][A-Z]/);
  });

  it.each([
    ['help', 'deploy'],
    ['deploy', '--help'],
  ])('explains a command with %s %s', async (...words) => {
    expect((await svc(words)).out).toMatch(/^Usage: svc deploy \[options\] \[environment\]\n/);
  });

  it.each([['--version'], ['version']])('says its version with %s', async (word) => {
    expect((await svc([word])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    ['frobnicate', "Unknown command 'frobnicate'\nSee: svc --help\n"],
    ['help frobnicate', "Unknown command 'frobnicate'\nSee: svc --help\n"],
    ['deplyo dev', "Unknown command 'deplyo'\n(Did you mean deploy?)\nSee: svc --help\n"],
    [
      'topics mesages',
      "Unknown command 'mesages'\n(Did you mean messages?)\nSee: svc topics --help\n",
    ],
    [
      'runs list --sattus x',
      "Unknown option '--sattus'\n(Did you mean --status?)\nSee: svc runs --help\n",
    ],
    ['topics show', "Missing required argument 'topic'\nSee: svc topics --help\n"],
  ])('refuses %s, and suggests', async (line, err) => {
    expect(await svc(line.split(' '))).toMatchObject({ exitCode: 1, out: '', err });
  });

  it('takes options before, between and after the words', async () => {
    for (const line of [
      '--json runs list -e dev',
      'runs -e dev --json list',
      'runs list --json -e=dev',
    ]) {
      const ended = await svc(line.split(' '));
      expect({ line, ...ended }).toMatchObject({ exitCode: 3 });
      expect(ended.err, line).toContain('SVC_SECRET_KEY');
    }
  });
});

describe('a service that does not answer', () => {
  it('is named, with how to name another', async () => {
    const variables = { SVC_HOSTPORT: 'http://127.0.0.1:9', SVC_SECRET_KEY: 'k' };
    const ended = await svc(['connections', '-e', 'dev'], { variables });
    expect(ended).toMatchObject({ exitCode: 1, out: '' });
    expect(ended.err).toMatch(/^Could not reach \S+ .*\n .*SVC_HOSTPORT/);
  });
});

describe('a limit that is no number', () => {
  it.each(['connections', 'runs list', 'logs', 'webhooks list'])(
    'is refused by %s',
    async (line) => {
      const args = [...line.split(' '), '-e', 'dev', '--limit', 'many'];
      const ended = await svc(args, { variables: { SVC_SECRET_KEY: 'k' } });
      expect(ended).toMatchObject({ exitCode: 1, out: '' });
      expect(ended.err).toContain('--limit takes a whole number, not "many"');
    },
  );
});

describe('svc config', () => {
  it('shows each setting and its source, and no secret', async () => {
    using project = functionsProject({
      '.env': 'SVC_SECRET_KEY_DEV=0123456789-dev-secret\nSVC_HOSTPORT=http://from-file\n',
    });
    const variables = { SVC_HOSTPORT: 'http://user:pass@gateway:3003', SVC_ACCOUNT_KEY: 'short' };
    const ended = await svc(['config', '--json'], { root: project.root, variables });
    expect(JSON.parse(ended.out)).toEqual([
      { name: 'SVC_HOSTPORT', value: 'http://****@gateway:3003', source: 'process' },
      { name: 'SVC_ENV', value: 'dev', source: 'default' },
      { name: 'SVC_ACCOUNT_KEY', value: '****', source: 'process' },
      { name: 'SVC_SECRET_KEY', value: null, source: 'default' },
      { name: 'SVC_WEBHOOK_SIGNING_KEY', value: null, source: 'default' },
      { name: 'SVC_DEPLOY_AUTO_CONFIRM', value: 'false', source: 'default' },
      { name: 'SVC_CLI_DEPENDENCY_UPDATE', value: 'true', source: 'default' },
      { name: 'CI', value: null, source: 'default' },
      { name: 'SVC_SECRET_KEY_DEV', value: '****cret', source: '.env' },
    ]);
  });
});

describe('svc completion', () => {
  const completed = async (words: readonly string[]): Promise<string[]> => {
    const { out } = await svc(['completion', 'bash']);
    const line = words.map((word) => `"${word}"`).join(' ');
    const script = `${out}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
  };

  it('offers commands, subcommands and options in bash', async () => {
    expect(await completed(['svc', 'dep'])).toEqual(['deploy']);
    expect(await completed(['svc', 'topics', 'm'])).toEqual(['messages']);
    expect(await completed(['svc', 'topics', 'messages', '--par'])).toEqual(['--partition']);
    expect(await completed(['svc', 'help', 'gen'])).toEqual(
      expect.arrayContaining(['generate:docs']),
    );
    expect(await completed(['svc', 'deploy', '--allow'])).toEqual([
      '--allow-destructive',
      '--allow-breaking',
    ]);
  });

  it('is printed for zsh and fish', async () => {
    expect((await svc(['completion', 'zsh'])).out).toMatch(/^autoload -U \+X bashcompinit/);
    const { out } = await svc(['completion', 'fish']);
    expect(out).toContain("-a deploy -d 'Deploy the functions to an environment of the service'");
    expect(await svc(['completion', 'tcsh'])).toMatchObject({ exitCode: 1, out: '' });
  });
});

describe('svc sync', () => {
  it.each([
    ['run', "Missing required argument 'sync'"],
    ['stop contacts', "Unknown command 'stop'"],
    ['pause contacts --reset', 'are options of run'],
    ['run contacts --empty-cache', 'requires --reset'],
  ])('refuses %s', async (line, message) => {
    const ended = await svc(['sync', ...line.split(' '), '-e', 'dev']);
    expect(ended).toMatchObject({ exitCode: 1, out: '' });
    expect(ended.err).toContain(message);
  });
});

describe('outside a project', () => {
  it.each([['compile'], ['deploy'], ['create']])('%s does nothing', async (command) => {
    const ended = await svc([command, '--no-dependency-update']);
    expect(ended.exitCode).toBe(1);
    expect(ended.err).toContain('Not inside a svc folder');
  });

  it('a leftover YAML configuration is refused', async () => {
    using project = functionsProject({ 'svc.yaml': 'integrations:\n' });
    const ended = await svc(['compile'], { root: project.root });
    expect(ended.exitCode).toBe(1);
    expect(ended.err).toContain('svc.yaml is no longer supported');
  });
});

describe('a new project', () => {
  let root: string;
  let made: Ended;
  beforeAll(async () => {
    root = join(folder, 'My Functions');
    made = await svc(['init', 'My Functions', '--no-dependency-update']);
  });

  it('compiles as it is made', () => {
    expect(made.exitCode).toBe(0);
    expect(made.err).toContain('Building 3 files');
    const artifacts: unknown = JSON.parse(read(root, '.svc/svc.json'));
    expect(artifacts).toMatchObject([
      {
        providerConfigKey: 'demo',
        syncs: [{ name: 'contacts', output: ['Contact'] }],
        actions: [{ name: 'rename-contact' }],
        onEventScripts: { 'validate-connection': [{ name: 'check-access' }] },
      },
    ]);
    expect(existsSync(join(root, 'build/demo_syncs_contacts.cjs'))).toBe(true);
  });

  it.each(['contacts', 'rename-contact', 'check-access'])(
    'has saved responses with which %s replays',
    async (name) => {
      const replayed = await svc(['dryrun', name, '--replay', '--no-dependency-update'], { root });
      expect(replayed, replayed.err).toMatchObject({ exitCode: 0 });
    },
  );

  it('links to this package and never names a registry for it', () => {
    const manifest = JSON.parse(read(root, 'package.json')) as {
      name: string;
      devDependencies: { svc: string; zod: string };
    };
    expect(manifest).toMatchObject({ name: 'my-functions', private: true, type: 'module' });
    expect(manifest.devDependencies.svc).toMatch(/^file:/);
    expect(manifest.devDependencies.zod).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('takes more functions, which compile as they are made', async () => {
    const kinds = ['sync', 'action', 'on-event'] as const;
    for (const kind of kinds) {
      const created = await svc(['create', 'crm', 'thing', `--${kind}`], { root });
      expect(created).toMatchObject({ exitCode: 0, out: `Created crm/${kind}s/thing.ts\n` });
    }
    expect(read(root, 'index.ts')).toMatch(
      /import '\.\/crm\/syncs\/thing\.js';\nimport '\.\/crm\/actions\/thing\.js';\nimport '\.\/crm\/on-events\/thing\.js';\n$/,
    );
    const compiled = await svc(['compile', '--no-dependency-update'], { root });
    expect(compiled).toMatchObject({ exitCode: 0, out: 'Compiled\n' });
    expect(compiled.err).toContain('Building 6 files');
  });

  it('is left as it is by a second init', async () => {
    writeFileSync(join(root, '.env'), 'SVC_SECRET_KEY_DEV=mine\n');
    await svc(['init', 'My Functions', '--copy']);
    expect(read(root, '.env')).toBe('SVC_SECRET_KEY_DEV=mine\n');
  });

  it('refuses a path that is a file', async () => {
    const ended = await svc(['init', 'index.ts', '--copy'], { root });
    expect(ended.exitCode).toBe(1);
    expect(ended.err).toContain('is not a folder');
  });
});

describe('svc create', () => {
  it('names a function once, also beside one whose name begins alike', async () => {
    using project = functionsProject({ 'crm/syncs/thing-2.ts': '' });
    const { root } = project;
    for (const round of ['new', 'lost']) {
      rmSync(join(root, 'crm/syncs/thing.ts'), { force: true });
      const created = await svc(['create', 'crm', 'thing', '--sync'], { root });
      expect({ round, ...created }).toMatchObject({ exitCode: 0, err: '' });
    }
    expect(read(root, 'index.ts').match(/syncs\/thing\b(?!-)/g)).toHaveLength(1);
  });

  it.each([
    [['create', 'crm', 'a'], 'Missing: Kind'],
    [['create', 'crm', 'a', '--sync', '--action'], 'Choose one of'],
    [['create', 'crm', '--sync'], 'Missing: Name of the function'],
    [['create', '..', 'a', '--sync'], 'cannot be the key'],
    [['create', 'crm', '../a', '--sync'], 'cannot be a name'],
    [['create', 'crm', 'a', '--on-event', '--no-interactive'], 'exists already'],
  ])('refuses %j', async (args, message) => {
    using project = functionsProject({ 'crm/on-events/a.ts': '// mine' });
    const before = read(project.root, 'index.ts');
    const ended = await svc(args, { root: project.root });
    expect(ended.exitCode).toBe(1);
    expect(ended.err).toContain(message);
    expect(read(project.root, 'index.ts')).toBe(before);
    expect(read(project.root, 'crm/on-events/a.ts')).toBe('// mine');
  });

  it('asks for what is missing where somebody sits', async () => {
    using project = functionsProject({ 'crm/on-events/a.ts': '' });
    const answers = ['action', 'mail', 'send'];
    const ended = await svc(['create'], { root: project.root, answers });
    expect(ended).toMatchObject({ exitCode: 0, out: 'Created mail/actions/send.ts\n' });
  });
});

describe('svc compile', () => {
  it('writes nothing when anything is wrong', async () => {
    using project = functionsProject({ 'crm/actions/broken.ts': 'export default 1;\n' });
    const ended = await svc(['compile', '--no-dependency-update'], { root: project.root });
    expect(ended).toMatchObject({ exitCode: 10, out: '' });
    expect(ended.err).toContain('err - crm/actions/broken.ts:1:1\n  Invalid default export');
    expect(ended.err).toContain('Found 1 error');
    expect(existsSync(join(project.root, 'build'))).toBe(false);
    expect(existsSync(join(project.root, '.svc/svc.json'))).toBe(false);
  });

  it('only warns of other dependencies when updates are off', async () => {
    using project = functionsProject({ 'crm/actions/broken.ts': '' });
    const before = read(project.root, 'package.json');
    const ended = await svc(['compile'], { root: project.root, variables: { CI: '1' } });
    expect(ended.err).toMatch(/warn - package\.json should have svc file:\S+, zod \d/);
    expect(read(project.root, 'package.json')).toBe(before);
  });
});

describe('svc deploy', () => {
  const inProject = { 'crm/actions/broken.ts': 'export default 1;\n' };

  it('sends nothing when the project does not compile', async () => {
    using project = functionsProject(inProject);
    const variables = { SVC_HOSTPORT: server.url, SVC_SECRET_KEY: 'k' };
    const ended = await svc(['deploy', 'dev', '--no-dependency-update'], {
      root: project.root,
      variables,
    });
    expect(ended.exitCode).toBe(10);
    expect(server.asked).toEqual([]);
  });

  it.each([
    [['deploy', 'my-env'], 11, 'SVC_SECRET_KEY_MY_ENV'],
    [['deploy'], 11, 'No API key of dev: set SVC_SECRET_KEY_DEV'],
    [['deploy', 'dev', '-e', 'prod'], 1, 'Usage: svc deploy [options] [environment]'],
    [['deploy', 'dev', '--frobnicate'], 1, "Unknown option '--frobnicate'"],
    [['deploy', 'dev', 'prod'], 1, "Too many arguments for 'deploy'"],
  ])('refuses %j', async (args, exitCode, message) => {
    using project = functionsProject(inProject);
    const ended = await svc(args, { root: project.root });
    expect(ended.exitCode).toBe(exitCode);
    expect(ended.err).toContain(message);
  });

  it('takes address, environment and key from .env, and agrees by variable', async () => {
    const root = join(folder, 'deployed');
    await svc(['init', 'deployed', '--copy']);
    writeFileSync(
      join(root, '.env'),
      `SVC_HOSTPORT=${server.url}\nSVC_ENV=staging\nSVC_SECRET_KEY_STAGING=from-file\nSVC_DEPLOY_AUTO_CONFIRM=true\n`,
    );
    server.answer.body = { ...emptyPlan, deletedModels: ['Old'] };
    const args = ['deploy', '--allow-destructive', '--no-dependency-update'];
    const ended = await svc(args, { root });
    expect(ended).toMatchObject({ exitCode: 0, questions: [] });
    expect(server.asked.map(({ authorization }) => authorization)).toEqual([
      'Bearer from-file',
      'Bearer from-file',
    ]);
  });
});
