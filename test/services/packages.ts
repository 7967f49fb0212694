import { getuid } from 'node:process';
import { announce, isOnPath, run, ServiceUnavailable } from './commands.ts';

/**
 * Packages of the distribution, unless the command is here already.
 * @param what as the message names it
 * @throws ServiceUnavailable
 */
export async function installPackages(
  command: string,
  what: string,
  packages: readonly string[],
): Promise<void> {
  if (isOnPath(command)) return;
  const names = packages.join(' ');
  if (!isOnPath('apt-get') || getuid?.() !== 0) {
    throw new ServiceUnavailable(
      `${what} is missing. Install it (as root: apt-get install -y ${names}).`,
    );
  }
  announce(`installing ${names}`);
  // The run level keeps a package from starting a server of its own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const install = ['install', '-y', '-qq', '--no-install-recommends', ...packages];
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', install, { env });
}
