import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inheritedEnv } from '#test/support/processes/deployment.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const tutorial = readFileSync(join(repository, 'docs/tutorial.md'), 'utf8');

/** A block of commands, or a file with the path that the text before it names. */
interface Step {
  readonly language: string;
  readonly text: string;
  readonly path: string | null;
}

const steps = [...tutorial.matchAll(/(?:^Save as `([^`]+)`:\n\n)?^```(\w+)\n([^]*?)^```$/gm)].map(
  ([, path, language = '', text = '']): Step => ({ language, text, path: path ?? null }),
);

let home: string;
let gateway: RunningGateway;
let developing: ChildProcess | null = null;
let watched = '';
/** Commands that the reader has typed. */
let commands = 0;

/** The reader of a shell. A project is made without its dependencies: nothing is read from a registry. */
const shell = () => `
svc() { "${process.execPath}" "${repository}dist/src/cli/main.js" "$@" --no-dependency-update; }
npm() { shift 4; if [ "$1" = init ]; then svc "$@" --copy; else svc "$@"; fi; }
npx() { shift; svc "$@"; }
`;

const env = () => ({
  ...inheritedEnv(),
  HOME: home,
  SVC_HOSTPORT: gateway.url,
  SVC_SECRET_KEY_DEV: gateway.key,
});

const project = () => join(home, 'my-functions');

async function reader(text: string, { fails = false } = {}): Promise<string> {
  commands += text.replaceAll('\\\n', ' ').trim().split('\n').length;
  const script = `${shell()}${text.replace('svc_env_…', gateway.key)}`;
  const cwd = text.includes('init ~') ? home : project();
  const options = { cwd: text.startsWith('cd ') ? home : cwd, env: env() };
  try {
    const { stdout, stderr } = await promisify(execFile)(
      'bash',
      ['--norc', '-euc', script],
      options,
    );
    return `${stdout}${stderr}`;
  } catch (error) {
    if (!fails) throw error;
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return `${stdout}${stderr}`;
  }
}

function save({ path, text }: Step): void {
  const file = join(project(), path ?? '');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-tutorial-'));
  gateway = await startGateway();
});
afterAll(async () => {
  if (developing !== null && developing.exitCode === null) {
    const ended = once(developing, 'close');
    process.kill(-(developing.pid ?? 0), 'SIGINT');
    await ended;
  }
  await gateway[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

describe('the tutorial, played in an empty home', () => {
  const begun = performance.now();
  const left = [...steps];
  const next = (language: string): Step => {
    const step = left.shift();
    expect(step?.language, 'the order of the blocks').toBe(language);
    return step!;
  };

  it('makes a project, deploys it and has records', async () => {
    expect(next('sh').text).toBe('npm start\n');
    await reader(next('sh').text);
    mkdirSync(join(project(), 'node_modules'), { recursive: true });
    symlinkSync(repository, join(project(), 'node_modules/svc'));
    symlinkSync(join(repository, 'node_modules/zod'), join(project(), 'node_modules/zod'));
    const deployed = await reader(next('sh').text);
    expect(deployed).toContain('Connected me of demo');
    const { text } = next('sh');
    await expect.poll(() => reader(text), { timeout: 30_000 }).toContain('contact-0');
    commands = 6;
  });

  it('has an own function that fails, whose line the API and the command line name', async () => {
    const { text } = next('sh');
    expect(text).toBe('npx svc dev\n');
    developing = spawn('bash', ['--norc', '-euc', `${shell()}${text}`], {
      // In a group of its own: the shell does not pass a signal on.
      detached: true,
      cwd: project(),
      env: env(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    commands += 1;
    for (const stream of [developing.stdout!, developing.stderr!]) {
      stream.on('data', (chunk: Buffer) => (watched += String(chunk)));
    }
    await expect.poll(() => watched, { timeout: 60_000 }).toContain('no error');
    const file = next('ts');
    save(file);
    const [add = '', ...call] = next('sh').text.split('\n');
    await reader(add);
    await expect
      .poll(() => watched, { timeout: 60_000 })
      .toContain('deployed demo/actions/initials');
    const answer = await reader(call.join('\n'), { fails: true });
    const line = file.text.slice(0, file.text.indexOf('data.name.split')).split('\n').length;
    const place = `demo/actions/initials.ts:${line}`;
    expect(answer).toContain(place);
    const [, id = ''] = /svc runs show ([\da-f-]+)/.exec(answer) ?? [];
    const shown = await reader(next('sh').text.replace('<id>', id));
    expect(shown).toContain(place);
    expect(shown).toContain(`> ${line} |     const words = data.name.split(' ');`);
    // svc dev keeps lines of every level.
    expect(shown).not.toContain('not kept');
  });

  it('is fixed, deployed and run again', async () => {
    save(next('ts'));
    expect(await reader(next('sh').text)).toMatch(/"initials":\s*"[A-Z]{2,3}"/);
  });

  it('adds an OAuth provider with a sync of its own', async () => {
    expect(await reader(next('sh').text)).toMatch(/Created github of github[^]*https?:../);
    save(next('ts'));
    // Deployed by this command, or by svc dev before it.
    await reader(next('sh').text);
    const listed = await gateway.call('GET', '/integrations/github/functions');
    expect(listed.body).toMatchObject({ data: [{ name: 'repositories', type: 'sync' }] });
  });

  it('has a handler of webhooks that compiles, and the settings that exist', async () => {
    const handler = next('js');
    save(handler);
    await reader('node --check handler.mjs');
    expect(await reader(`${next('sh').text}echo "$SVC_WEBHOOK_SIGNING_KEY"`)).toContain('whsec_');
    expect(left).toEqual([]);
    const configuration = readFileSync(join(repository, 'docs/generated/configuration.md'), 'utf8');
    const [, section = ''] = tutorial.split('\n## Production\n');
    for (const [name] of section.matchAll(/`SVC_[A-Z_]+`/g)) expect(configuration).toContain(name);
    const seconds = Math.round((performance.now() - begun) / 1000);
    console.log(`the tutorial: ${commands} commands, ${seconds} s`);
  });
});
