import {
  Argument,
  Command as Commander,
  Option as CommanderOption,
  CommanderError,
} from 'commander';
import { commandGroups, commands } from './command-list.ts';
import { globalOptions, type Command, type Input, type Options } from './command.ts';
import type { Context } from './context.ts';
import { CommandFailure, exitCodes, type ExitCode } from './exit.ts';

const about = 'svc: functions of the integration gateway, from the command line';

const help = `
Exit codes
  0 success   1 usage error or other failure   10 compile failed   11 deploy failed   12 dry run failed
  3 key missing or refused   4 refused or not confirmed   5 differences found   130 interrupted
  141 the reader closed the pipe

Example
  svc init my-functions && cd my-functions && svc deploy dev`;

/** Headings of commander, in the style of the rest. */
const titles: Readonly<Record<string, string>> = {
  'Options:': 'Options',
  'Commands:': 'Commands',
  'Global Options:': 'Further options',
};

const completionHelp = `
Examples
  eval "$(svc completion bash)"            in ~/.bashrc
  eval "$(svc completion zsh)"             in ~/.zshrc, after compinit
  svc completion fish > ~/.config/fish/completions/svc.fish`;

type Run = (command: Command, input: Input) => Promise<void>;

/** The command line as commander parses and explains it; throws CommanderError where it ends without a command. */
export function openProgram({ output, own }: Pick<Context, 'output' | 'own'>, run: Run): Commander {
  const program = new Commander('svc')
    .description(about)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.result(text.trimEnd()),
      writeErr: (text) => output.note(text.trimEnd()),
      outputError: (text, write) => write(output.paint('red', withoutLabel(text.trimEnd()))),
      getOutHelpWidth: () => output.columns,
      getErrHelpWidth: () => output.columns,
    })
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) =>
        [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' '),
      styleTitle: (title) => output.paint('bold', titles[title] ?? title),
    })
    .helpOption('-h, --help', 'help of the command')
    .addHelpText('after', help)
    .showHelpAfterError('See: svc --help');
  addOptions(program, globalOptions);
  for (const [heading, commands] of Object.entries(commandGroups)) {
    for (const command of commands) addCommand(program, command, run).helpGroup(heading);
  }
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(shells))
    .summary('Print the completion of commands and options for a shell')
    .addHelpText('after', completionHelp)
    .action((shell: Shell) => output.result(completionScript(shell)));
  program
    .command('version')
    .summary('Show the version of this program, as --version does')
    .action(() => output.result(own.version));
  program
    .command('help')
    .argument('[command...]')
    .summary('Show the help of a command')
    .action((words: readonly string[]) => explain(program, words));
  return program;
}

const argumentTerm = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
};

const withoutLabel = (message: string): string =>
  message.replace(/^error: (.)/, (_label, first: string) => first.toUpperCase());

/** Prints the help of a command. @throws CommanderError always */
function explain(program: Commander, words: readonly string[]): void {
  const named = words.reduce(
    (parent: Commander | undefined, word) => parent?.commands.find((one) => one.name() === word),
    program,
  );
  // Parsing refuses an unknown command, with the most similar one.
  if (named === undefined) program.parse([...words], { from: 'user' });
  else named.help();
}

/** The paragraphs of a text, for commander to break into lines. */
const paragraphsOf = (text: string): string[] =>
  text.split('\n\n').map((paragraph) => paragraph.replaceAll('\n', ' '));

function addCommand(program: Commander, command: Command, run: Run): Commander {
  const { name, usage, summary, words = {}, defaultWord } = command;
  const added = program
    .command(`${name} ${usage}`.trimEnd())
    .summary(summary)
    .description([summary, ...paragraphsOf(command.about ?? '')].join('\n\n').trimEnd())
    .addHelpText('after', `\n${command.help}`)
    .showHelpAfterError(`See: svc ${name} --help`)
    .helpCommand(false);
  addOptions(added, command.options);
  const runParsed = async (parsed: Commander, word: string): Promise<void> => {
    try {
      const values = valuesOf(parsed, command.options);
      await run(command, { word, positionals: parsed.args, values });
    } catch (error) {
      if (!(error instanceof CommandFailure && error.isUsage)) throw error;
      const { message, exitCode } = error;
      const usage = `Usage: svc ${name} ${parsed.usage()}\nSee:   svc ${name} --help`;
      added.showHelpAfterError(usage).error(message, { exitCode });
    }
  };
  const addWords = (parent: Commander): Commander => {
    for (const [signature, meaning] of Object.entries(words)) {
      const subcommand = parent.command(signature).summary(meaning).description(meaning);
      subcommand.action(() => runParsed(subcommand, subcommand.name()));
    }
    return parent;
  };
  addWords(added);
  if (defaultWord !== undefined) {
    added.allowExcessArguments().action(() => {
      if (added.args.length === 0) return runParsed(added, defaultWord);
      // Only a parent without an action of its own refuses an unknown subcommand with the most similar one.
      const strict = addWords(new Commander(name).copyInheritedSettings(added));
      return void strict.parse(added.args, { from: 'user' });
    });
  } else if (usage !== '' || Object.keys(words).length === 0) {
    added.action(() => runParsed(added, ''));
  }
  return added;
}

function addOptions(command: Commander, options: Options): void {
  for (const [flags, meaning, isRepeatable] of Object.values(options)) {
    const option = new CommanderOption(flags, meaning);
    if (isRepeatable !== undefined) {
      const append = (value: string, before: string[] | undefined) => [...(before ?? []), value];
      option.argParser<string[] | undefined>(append);
    }
    command.addOption(option);
  }
}

/** By the names of the declaration. */
function valuesOf(parsed: Commander, options: Options): Input['values'] {
  const values = parsed.optsWithGlobals();
  return Object.fromEntries(
    Object.entries({ ...globalOptions, ...options }).map(([name, [flags]]) => [
      name,
      values[new CommanderOption(flags).attributeName()] as never,
    ]),
  );
}

/** What may follow each command or subcommand, by its words: `""`, `topics`, `topics list`. */
function choices(): Map<string, string[]> {
  const flagsOf = ({ options }: Pick<Command, 'options'>): string[] =>
    Object.values({ ...globalOptions, ...options }).map(
      ([flags]) => /--[\w-]+/.exec(flags)?.[0] ?? '',
    );
  const found = new Map([
    ['', [...commands.map(({ name }) => name), 'completion', 'version', 'help']],
  ]);
  for (const command of commands) {
    const words = Object.keys(command.words ?? {}).map(
      (signature) => signature.split(' ', 1)[0] ?? '',
    );
    const flags = [...flagsOf(command), '--help'];
    found.set(command.name, [...words, ...flags]);
    for (const word of words) found.set(`${command.name} ${word}`, flags);
  }
  found.set('completion', [...shells]);
  found.set(
    'help',
    commands.map(({ name }) => name),
  );
  return found;
}

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** Names are of letters, digits, `-` and `:`, so that none needs quotes. */
function completionScript(shell: Shell): string {
  return shell === 'fish' ? fishScript() : bashScript(shell === 'zsh');
}

/** zsh runs the function of bash. */
function bashScript(isZsh: boolean): string {
  const cases = [...choices()].map(
    ([words, next]) => `    "${words}") choices="${next.join(' ')}" ;;`,
  );
  return `${isZsh ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_svc() {
  local choices words="\${COMP_WORDS[1]}" current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -le 1 ]; then words=""; fi
  if [ "$COMP_CWORD" -gt 2 ]; then
    case "\${COMP_WORDS[2]}" in -*) ;; *) words="$words \${COMP_WORDS[2]}" ;; esac
  fi
  case "$words" in
${cases.join('\n')}
    *) choices="" ;;
  esac
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
}
complete -o default -F _svc svc`;
}

function fishScript(): string {
  const lines = commands.flatMap(({ name, summary, words = {}, options }) => {
    const within = `complete -c svc -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c svc -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
      ...Object.entries<string>(words).map(
        ([signature, meaning]) =>
          `${within} -a ${signature.split(' ', 1)[0]} -d ${quoted(meaning)}`,
      ),
      ...Object.values({ ...globalOptions, ...options }).map(([flags, meaning]) => {
        const long = /--([\w-]+)/.exec(flags)?.[1] ?? '';
        return `${within} -l ${long} -d ${quoted(meaning)}${flags.includes('<') ? ' -r' : ''}`;
      }),
    ];
  });
  return lines.join('\n');
}

const quoted = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Runs one command line and returns its exit code; never throws for errors of the user. */
export async function runCommandLine(args: readonly string[], context: Context): Promise<ExitCode> {
  const { output } = context;
  const program = openProgram(context, (command, input) => command.run(input, context));
  try {
    await program.parseAsync(nameFirst(args), { from: 'user' });
    return exitCodes.success;
  } catch (error) {
    // It has printed its message, or the help.
    if (error instanceof CommanderError) return error.exitCode as ExitCode;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const isExpected = error instanceof CommandFailure;
    output.note(output.paint('red', isExpected ? error.message : `Unexpected failure: ${text}`));
    return isExpected ? error.exitCode : exitCodes.failure;
  }
}

/** Options before the command's name belong to it as well; `generate client` names the command `generate:client`. */
function nameFirst(args: readonly string[]): string[] {
  if (args[0] === '--version') return ['version'];
  const at = args.findIndex((word) => !word.startsWith('-'));
  if (at === -1) return [...args];
  const [name = '', second = ''] = args.slice(at);
  const pair = `${name}:${second}`;
  const isPair = commands.some((command) => command.name === pair);
  return [isPair ? pair : name, ...args.toSpliced(at, isPair ? 2 : 1)];
}
