import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const launcher = join(repository, 'bin/svc.js');
const source = join(repository, 'src/cli/main.ts');

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-launcher-')));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function start(
  program: string,
  args: readonly string[],
  options: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    /** Options of Node. */
    readonly node?: readonly string[];
  } = {},
) {
  const { cwd = folder, env = {}, node = [] } = options;
  const child = spawn(process.execPath, [...node, program, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], XDG_CACHE_HOME: join(folder, 'caches'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { exitCode: await exited, out, err };
}

describe('the launcher', () => {
  it('runs the command line and passes its exit code and streams on', async () => {
    expect(await start(launcher, ['version'])).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
      err: '',
    });
    const refused = await start(launcher, ['compile']);
    expect(refused).toMatchObject({ exitCode: 1, out: '', err: 'Not inside a svc folder\n' });
  });

  it("keeps compiled code among the user's caches, and works without a place for it", async () => {
    const kept = await start(launcher, ['version']);
    expect(kept).toMatchObject({ exitCode: 0, err: '' });
    expect(readdirSync(join(folder, 'caches/svc/compiled'))).toHaveLength(1);
    const noFolder = await start(launcher, ['version'], { env: { XDG_CACHE_HOME: '/dev/null' } });
    expect(noFolder).toMatchObject({ exitCode: 0, out: kept.out, err: '' });
  });

  it('prints its help without the packages that load slowly', async () => {
    const hook = `import { registerHooks } from 'node:module';
      const load = (url, context, next) => {
        if (/node_modules\\/(?!commander)/.test(url)) throw new Error(url + ' was loaded');
        return next(url, context);
      };
      registerHooks({ load });`;
    const node = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
    const ended = await start(source, ['--help'], { node });
    expect(ended).toMatchObject({ exitCode: 0, err: '' });
    expect(ended.out).toContain('svc deploy');
  });

  it('compiles a project that has nothing installed, and ends', async () => {
    const project = join(folder, 'releases');
    for (const part of ['index.ts', 'package.json', 'npm', '.svc/.gitkeep']) {
      cpSync(join(repository, 'examples/npm-releases', part), join(project, part), {
        recursive: true,
      });
    }
    const ended = await start(launcher, ['compile', '--no-dependency-update'], { cwd: project });
    expect(ended).toMatchObject({ exitCode: 0, out: 'Compiled\n' });
    expect(existsSync(join(project, '.svc/svc.json'))).toBe(true);
    expect(existsSync(join(project, 'build/npm_syncs_releases.cjs'))).toBe(true);
  });
});

describe('a pipe whose reader has gone', () => {
  it('ends the command, and nothing is said of it', async () => {
    const child = spawn(process.execPath, [source, 'help'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    expect(await text(child.stderr)).toBe('');
    expect(await exited).toBe(141);
  });
});

describe('npm run svc', () => {
  it('works in the folder of the user, not in that of the script', async () => {
    const env = { npm_lifecycle_event: 'svc', INIT_CWD: folder };
    const made = await start(source, ['init', 'made', '--copy'], { cwd: repository, env });
    expect(made.exitCode).toBe(0);
    expect(existsSync(join(folder, 'made/index.ts'))).toBe(true);
  });
});
