import { openSandbox } from '../adapters/sandbox/sandbox.ts';
import { apiClient } from './client.ts';
import { ProjectCompiler } from './compiler/compile.ts';
import { askOnTerminal, type Context } from './context.ts';
import { processVariables, readEnvironment, userDirectory } from './environment.ts';
import { outputTo } from './output.ts';
import { ownPackage } from './package.ts';
import { runCommandLine } from './run.ts';
import { transferLog } from './transfer-log.ts';

const variables = processVariables();
const root = userDirectory(variables, process.cwd());
const environment = readEnvironment(root, variables);
const own = ownPackage();

const context: Context = {
  root,
  own,
  environment,
  output: outputTo(process.stdout, process.stderr),
  isTerminal: process.stdin.isTTY && process.stderr.isTTY,
  ask: askOnTerminal,
  onInterrupt: (listener) => {
    process.on('SIGINT', listener);
    return () => void process.off('SIGINT', listener);
  },
  openSandbox: () => openSandbox({ childrenMax: 1 }),
  openCompiler: (parts) => new ProjectCompiler(parts),
  transferLog: (word, folder) => transferLog(root, word, folder),
  openClient: (secretKey) => apiClient({ host: environment.host, secretKey, version: own.version }),
};

process.exitCode = await runCommandLine(process.argv.slice(2), context);
