import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#test/services/ports.ts';
import { inheritedEnv } from '#test/support/processes/deployment.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The shell blocks of "Run it": the start, a terminal, the API. */
function blocks(): string[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, section = ''] = /\n## Run it\n([^]*?)\n##/.exec(readme) ?? [];
  return [...section.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);
}

const commandsOf = (block: string): string[] =>
  block.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

const [start = '', terminal = '', api = '', ...more] = blocks();
/** Nothing of npm is reached after the installation. */
const offline = { npm_config_offline: 'true', npm_config_registry: 'http://127.0.0.1:9' };

let folder: string;
let address: string;
let env: NodeJS.ProcessEnv;
let gateway: ChildProcess;
let printed = '';

/** A shell of the reader, with the address and the key that the gateway printed. */
async function reader(text: string): Promise<string> {
  const [key = ''] =
    /svc_env_[\w-]{43}/.exec(/^.*\bdev\b.*svc_env_.*$/m.exec(printed)?.[0] ?? '') ?? [];
  const script = text.replace('svc_env_…', key).replace('http://127.0.0.1:3003', address);
  const options = { cwd: root, env: { ...env, SVC_SECRET_KEY_DEV: key }, maxBuffer: 10_000_000 };
  return (await promisify(execFile)('bash', ['-euc', script], options)).stdout;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-quickstart-'));
  const port = String(await freePort());
  address = `http://127.0.0.1:${port}`;
  env = { ...inheritedEnv(), ...offline, SVC_HOSTPORT: address };
  const settings = { SVC_PORT: port, SVC_DATA_DIR: folder };
  // In a group of its own: npm does not pass every signal on.
  gateway = spawn('bash', ['-euc', start], {
    cwd: root,
    env: { ...env, ...settings },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [gateway.stdout!, gateway.stderr!])
    stream.on('data', (chunk: Buffer) => (printed += String(chunk)));
  // The keys are printed after the event that says that it is ready.
  while (!/svc_acct_[\w-]{43}/.test(printed)) {
    if (gateway.exitCode !== null) throw new Error(`the gateway ended:\n${printed}`);
    await sleep(20);
  }
});
afterAll(async () => {
  const ended = once(gateway, 'close');
  process.kill(-(gateway.pid ?? 0), 'SIGTERM');
  await ended;
  await rm(folder, { recursive: true, force: true });
});

describe('the quickstart of the README, word by word and without a network', () => {
  it('ends with records, in at most five commands', async () => {
    expect(more).toEqual([]);
    expect(start).toBe('npm start\n');
    const commands = commandsOf(terminal);
    expect(1 + commands.length).toBeLessThanOrEqual(5);
    const last = commands.pop() ?? '';
    const output = await reader(commands.join('\n'));
    expect(output).toContain('demo-key: contacts, rename-contact, receive-webhooks');
    expect(output).toContain('Connected me of demo-key');
    // The sync began with the connection.
    await expect.poll(async () => (await reader(last)).split('\n').length - 1).toBe(250);
  });

  it('does the same over the API', async () => {
    const output = await reader(api);
    expect(output).toContain('{"success":true}');
    expect(output.match(/"last_action":"ADDED"/g)).toHaveLength(100);
    expect(output).toMatch(/"id":"contact-007","name":"Ada Lovelace"[^{]*\}$/);
  });
});
