import { commands } from './command-list.ts';
import { globalOptions, type Command } from './command.ts';

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

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Names are of letters, digits, `-` and `:`, so that none needs quotes. */
export function completionScript(shell: Shell): string {
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
