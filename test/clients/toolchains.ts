import { cached } from '#test/services/cache.ts';
import {
  announce,
  isOnPath,
  requireJava,
  run,
  ServiceUnavailable,
} from '#test/services/commands.ts';
import { versions } from '#test/services/versions.ts';
import { installGenerator, type Language } from './generate.ts';

const minorMin = 11;
const how = 'Install Python 3.11 or newer with pip: apt-get install -y python3 python3-pip';

/**
 * A folder with packages of PyPI, outside the repository.
 * @param what as the message names it
 * @throws ServiceUnavailable without Python, or the packages
 */
export async function installPythonPackages(
  name: string,
  what: string,
  packages: readonly string[],
): Promise<string> {
  if (!isOnPath('python3')) throw new ServiceUnavailable(`${what} needs python3. ${how}`);
  const version = await run('python3', ['--version']);
  const minor = Number(/Python 3\.(\d+)/.exec(version)?.[1] ?? 0);
  if (minor < minorMin) throw new ServiceUnavailable(`${what} finds ${version.trim()}. ${how}`);
  return cached(`${name}-py3.${minor}`, async (folder) => {
    announce(`fetching ${packages.join(' ')}`);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
    const args = ['-m', 'pip', 'install', ...quiet, '--target', folder, ...packages];
    try {
      await run('python3', args);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ServiceUnavailable(`${packages.join(' ')} cannot be installed: ${reason}`);
    }
  });
}

/** What the test of the client for Python imports, and mypy. @throws ServiceUnavailable */
export const installClientPackages = (): Promise<string> =>
  installPythonPackages(
    `client-packages-${versions.clientPackages.map((one) => one.replace(/^.*==/, '')).join('-')}`,
    'The client for Python',
    versions.clientPackages,
  );

/** What the test of a client needs. @throws ServiceUnavailable */
export async function installToolchain(language: Language): Promise<void> {
  await installGenerator();
  if (language === 'python') await installClientPackages();
  if (language === 'java') await requireJava('The client for Java', false);
  if (language === 'go' && !isOnPath('go'))
    throw new ServiceUnavailable('The client for Go needs go. Install Go 1.23 or newer.');
}
