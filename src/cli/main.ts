import {
  openClient,
  listenToLines,
  promptOnTerminal,
  promptSecretOnTerminal,
  type Context,
} from './context.ts';
import { processVariables, readEnvironment, userDirectory } from './environment.ts';
import { exitCodes } from './exit.ts';
import { outputTo } from './output.ts';
import { ownPackage } from './package.ts';
import { runCommandLine } from './program.ts';
import { runProgram } from './run-program.ts';

const variables = processVariables();
const root = userDirectory(variables, process.cwd());
const environment = readEnvironment(root, variables);
const own = ownPackage();

/** Ctrl-C ends a command that does not listen for it. */
const listeners = new Set<() => void>();
process.on('SIGINT', () => {
  if (listeners.size === 0) process.exit(exitCodes.interrupted);
  for (const listener of listeners) listener();
});

/** The reader has closed the pipe: there is nothing left to do. */
function endUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(exitCodes.readerGone);
}
process.stdout.on('error', endUnread);
process.stderr.on('error', endUnread);

const context: Context = {
  root,
  own,
  environment,
  output: outputTo(process.stdout, process.stderr),
  isTerminal: process.stdin.isTTY && process.stderr.isTTY,
  prompt: promptOnTerminal,
  promptSecret: promptSecretOnTerminal,
  onInterrupt: (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  onLine: listenToLines,
  // Sandbox and compiler load slowly, and most commands need neither.
  openSandbox: async () => {
    const { openSandbox } = await import('#adapters/sandbox/sandbox.ts');
    return openSandbox({ childrenMax: 1 });
  },
  openCompiler: async (parts) => {
    const { ProjectCompiler } = await import('./compiler/compile.ts');
    return new ProjectCompiler(parts);
  },
  runProgram: (...run) => runProgram(root, ...run),
  openClient: (secretKey) =>
    openClient({ host: environment.hostOf(secretKey), secretKey, version: own.version }),
};

process.exitCode = await runCommandLine(process.argv.slice(2), context);
