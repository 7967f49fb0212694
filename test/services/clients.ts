import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { cached } from './cache.ts';
import { announce, isOnPath, run, ServiceUnavailable } from './commands.ts';

/**
 * A Python that has what the file of requirements names; made once per machine.
 * @returns the path of its interpreter
 * @throws ServiceUnavailable
 */
export async function pythonWith(requirements: string): Promise<string> {
  if (!isOnPath('python3')) {
    throw new ServiceUnavailable('Python is missing: apt-get install -y python3-venv');
  }
  const version = await run('python3', ['--version']);
  const wanted = version + (await readFile(requirements, 'utf8'));
  const digest = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  const folder = await cached(`python-${digest}`, async (path) => {
    announce('fetching the Python clients of Kafka with pip (about 20 MB, once)');
    await run('python3', ['-m', 'venv', path]);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    await run(join(path, 'bin', 'python'), [...install, '-r', requirements]);
  });
  return join(folder, 'bin', 'python');
}

/** The package of the distribution, if kcat is not here already. @throws ServiceUnavailable */
export async function installKcat(): Promise<void> {
  if (isOnPath('kcat')) return;
  if (!isOnPath('apt-get') || getuid?.() !== 0) {
    throw new ServiceUnavailable('kcat is missing: as root, apt-get install -y kcat');
  }
  announce('installing the package kcat');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'kcat'], { env });
}
