import type { Command } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { parseCommand } from '../options.ts';
import { audit } from './audit.ts';
import { compile } from './compile.ts';
import { connect } from './connect.ts';
import { connections } from './connections.ts';
import { consoleCommand } from './console.ts';
import { consumers } from './consumers.ts';
import { create } from './create.ts';
import { deadLetters } from './dead-letters.ts';
import { demo } from './demo.ts';
import { deploy } from './deploy.ts';
import { dev } from './dev.ts';
import { doctor } from './doctor.ts';
import { dryrun } from './dryrun.ts';
import { generateDocs } from './generate-docs.ts';
import { generateTests } from './generate-tests.ts';
import { init } from './init.ts';
import { keys } from './keys.ts';
import { listen } from './listen.ts';
import { log } from './log.ts';
import { logs } from './logs.ts';
import { projections } from './projections.ts';
import { pull } from './pull.ts';
import { records } from './records.ts';
import { rootKeys } from './root-keys.ts';
import { runs } from './runs.ts';
import { sync } from './sync.ts';
import { topics } from './topics.ts';
import { version } from './version.ts';
import { webhooks } from './webhooks.ts';

const help: Command = {
  name: 'help',
  usage: '[command]',
  summary: 'Show the help of a command',
  help: `Examples
  svc help
  svc help deploy`,

  async run(args, context) {
    const [name] = parseCommand(args, {}).positionals;
    const command = name === undefined ? undefined : findCommand(name);
    if (name !== undefined && command === undefined) throw unknownCommand(name);
    context.output.result(command === undefined ? overview() : usageOf(command));
  },
};

export const commands: readonly Command[] = [
  init,
  create,
  compile,
  dev,
  dryrun,
  deploy,
  pull,
  generateTests,
  generateDocs,
  demo,
  connect,
  connections,
  sync,
  records,
  runs,
  logs,
  webhooks,
  listen,
  consoleCommand,
  doctor,
  projections,
  topics,
  consumers,
  deadLetters,
  rootKeys,
  keys,
  audit,
  log,
  version,
  help,
];

export const findCommand = (name: string): Command | undefined =>
  commands.find((command) => command.name === name);

export const unknownCommand = (name: string): CommandFailure =>
  new CommandFailure(`Unknown command "${name}"; "svc help" lists all commands`);

/** Column at which the summaries of the overview begin; for longer commands they are on a line of their own. */
const summaryColumn = 36;

export function overview(): string {
  const lines = commands.map(({ name, usage, summary }) => {
    const line = `  svc ${name} ${usage}`;
    const isLong = line.length >= summaryColumn;
    return isLong
      ? `${line}\n${' '.repeat(summaryColumn)}${summary}`
      : line.padEnd(summaryColumn).concat(summary);
  });
  return `svc: functions of the integration gateway, from the command line

Commands
${lines.join('\n')}

Options of every command
  --auto-confirm             answer yes to questions (removals need --allow-destructive too)
  --no-interactive           never prompt; missing input is an error
  --no-dependency-update     do not change package.json and node_modules
  --debug                    verbose output
  -h, --help                 help of the command
  --version                  version of this program

Exit codes
  0 success   1 usage error or other failure   10 compile failed   11 deploy failed   12 dry run failed
  3 key missing or refused   4 refused or not confirmed   5 differences found   130 interrupted
  141 the reader closed the pipe

Example
  svc init my-functions && cd my-functions && svc deploy dev`;
}

export function usageOf(command: Command): string {
  return `svc ${command.name} ${command.usage}`.trimEnd().concat(`

${command.summary}

${command.help}`);
}
