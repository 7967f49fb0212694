import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** A service that cannot be started here, and how to fix that. */
export class ServiceUnavailable extends Error {
  override readonly name = 'ServiceUnavailable';
}

/** Where the command lies; null when it is not to be found. */
export function pathOf(command: string): string | null {
  const files = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, command));
  const found = files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  return found ?? null;
}

export const isOnPath = (command: string): boolean => pathOf(command) !== null;

/** Runs a command to its end and returns what it printed on either stream. */
export async function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  try {
    const settings = { ...options, maxBuffer: 64 * 1024 ** 2 };
    const { stdout, stderr } = await execute(command, args, settings);
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const said = `${stdout}${stderr}`.trim();
    throw new Error(`${command} ${args.join(' ')} failed:\n${said}`, { cause: error });
  }
}

const howJava =
  'Install Java 17 or newer and Maven: apt-get install -y openjdk-17-jre-headless maven';

/** @throws ServiceUnavailable */
export async function requireJava(name: string, isFetched: boolean): Promise<void> {
  const needed = isFetched ? ['java'] : ['java', 'mvn'];
  const missing = needed.filter((command) => !isOnPath(command));
  if (missing.length > 0) {
    throw new ServiceUnavailable(`${name} needs ${missing.join(' and ')}. ${howJava}`);
  }
  const version = await run('java', ['-version']);
  const major = Number(/version "(\d+)/.exec(version)?.[1] ?? 0);
  if (major < 17) {
    throw new ServiceUnavailable(`${name} needs Java 17, and here is Java ${major}. ${howJava}`);
  }
}

/** For what unpacks or compiles too. @throws ServiceUnavailable */
export async function requireJdk(name: string): Promise<void> {
  await requireJava(name, false);
  if (isOnPath('jar') && isOnPath('javac')) return;
  throw new ServiceUnavailable(`${name} needs a JDK: apt-get install -y openjdk-17-jdk-headless`);
}

/** Says what takes long, on the first run of a machine. */
export function announce(message: string): void {
  process.stderr.write(`[services] ${message}\n`);
}
