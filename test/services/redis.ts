import { getuid } from 'node:process';
import { announce, isOnPath, run, ServiceUnavailable } from './commands.ts';
import { freePort } from './ports.ts';
import { startService, type Service } from './service.ts';

export interface RedisOptions {
  /** Then the URL has it too. */
  readonly password?: string;
}

/** A Redis, empty; keeps its data over a restart, also when it is killed. @throws ServiceUnavailable */
export async function startRedis({ password }: RedisOptions = {}): Promise<Service> {
  await installRedis();
  const port = await freePort();
  return startService({
    name: 'Redis',
    url: `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`,
    command: 'redis-server',
    args: (folder) => [
      ...['--bind', '127.0.0.1', '--port', String(port), '--dir', folder],
      ...['--save', '', '--appendonly', 'yes', '--appendfsync', 'no'],
      ...(password === undefined ? [] : ['--requirepass', password]),
    ],
    isReady: (output) => output.includes('Ready to accept connections'),
  });
}

/** The package of the distribution, if Redis is not here already. @throws ServiceUnavailable */
export async function installRedis(): Promise<void> {
  if (isOnPath('redis-server')) return;
  if (!isOnPath('apt-get') || getuid?.() !== 0) {
    throw new ServiceUnavailable(
      'Redis is missing. Install it (as root: apt-get install -y redis-server).',
    );
  }
  announce('installing the package redis-server');
  // The run level keeps the package from starting a server of its own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const install = ['install', '-y', '-qq', '--no-install-recommends', 'redis-server'];
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', install, { env });
}
