import type { Context } from './context.ts';

/**
 * Flags of an option in the notation of commander (`-i, --integration <id>`, `--no-deploy`), its help, and whether it
 * may be given several times.
 */
export type Option = readonly [flags: string, help: string, isRepeatable?: 'repeatable'];

/** By long name, without `no-`. */
export type Options = Readonly<Record<string, Option>>;

export type ValueOf<O extends Option> = O extends readonly [string, string, 'repeatable']
  ? readonly string[]
  : O[0] extends `${string}<${string}`
    ? string
    : boolean;

/** Options of every command (docs/reference/cli.md#invocation). */
export const globalOptions = {
  'auto-confirm': [
    '--auto-confirm',
    'answer yes to questions (removals need --allow-destructive too)',
  ],
  interactive: ['--no-interactive', 'never prompt; missing input is an error'],
  'dependency-update': ['--no-dependency-update', 'do not change package.json and node_modules'],
  debug: ['--debug', 'verbose output'],
} as const satisfies Options;

export type ValuesOf<O extends Options> = {
  readonly [Name in keyof (O & typeof globalOptions)]?: ValueOf<(O & typeof globalOptions)[Name]>;
};

/** The name of a subcommand: the first word of its signature. */
type WordOf<Signature> = Signature extends `${infer Word} ${string}` ? Word : Signature;

/** A parsed command line. */
export interface Input<O extends Options = Options, Signature = string> {
  /** The subcommand, if the command has some. */
  readonly word: WordOf<Signature>;
  /** As many as `usage`, or the signature of the subcommand, allows. */
  readonly positionals: readonly string[];
  readonly values: ValuesOf<O>;
}

/** A command of the command line. */
export interface Command<O extends Options = Options, Signature extends string = string> {
  readonly name: string;
  /** Its arguments in the notation of commander: `<integration> [connection]`, `[ids...]`. */
  readonly usage: string;
  readonly summary: string;
  /** More about it, printed above the options. */
  readonly about?: string;
  /** Summaries of its subcommands, by signature: `show <topic>`. */
  readonly words?: Readonly<Record<Signature, string>>;
  /** The subcommand that an absent one means. */
  readonly defaultWord?: NoInfer<WordOf<Signature>>;
  readonly options: O;
  /** The text of `svc help <name>` below the options: variables, exit codes, examples. */
  readonly help: string;
  /** @throws CommandFailure */
  run(input: Input<O, Signature>, context: Context): Promise<void>;
}

/** Infers the types of options and subcommands. */
export const defineCommand = <const O extends Options, const Signature extends string = ''>(
  command: Command<O, Signature>,
): Command<O, Signature> => command;
