import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { outputTo } from '#cli/output.ts';
import { ownPackage } from '#cli/package.ts';
import { openProgram } from '#cli/program.ts';

const root = new URL('../../../', import.meta.url).pathname;
const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => /^(docs\/(?!adr|generated)|deploy|examples|README)/.test(file));

interface Written {
  readonly page: string;
  readonly command: string;
  /** In a sentence a command may stand without its arguments. */
  readonly isWhole: boolean;
}

/** The words of a simple command, without variables before it and what a shell does with its output. */
function wordsOf(command: string): string[] {
  const [plain = ''] = command.split(/ +(?:[#>|…]|&&|\\$)/);
  return [...plain.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)]
    .map(([, single, double, bare]) => single ?? double ?? bare ?? '')
    .slice(1);
}

function commandsOn(page: string): Written[] {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = [...text.matchAll(/^ *```sh\n([^]*?)^ *```/gm)].flatMap(([, block = '']) =>
    block.split('\n'),
  );
  const spans = [...text.replaceAll(/^ *```[^]*?^ *```/gm, '').matchAll(/`(svc [^`\n]+)`/g)];
  const start = /^ *(?:[A-Z_]+=\S+ )*(?:npx |npm run -s (?=svc -- ))?(svc )(?:-- )?/;
  const whole = blocks
    .filter((line) => start.test(line))
    .map((line) => ({ page, command: line.replace(start, '$1'), isWhole: true }));
  // A placeholder in place of the name is no command.
  const named = spans
    .filter(([, command = '']) => !/^svc (help )?</.test(command))
    .map(([, command = '']) => ({ page, command, isWhole: false }));
  return [...whole, ...named];
}

/** The message of the command line about a command that it does not take; null: it takes it. */
async function refusalOf({ command, isWhole }: Written): Promise<string | null> {
  const printed: string[] = [];
  const output = outputTo(
    { write: () => undefined },
    { write: (text) => printed.push(text.trim()) },
  );
  const program = openProgram({ output, own: ownPackage() }, async () => undefined);
  try {
    await program.parseAsync(wordsOf(command), { from: 'user' });
    return null;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const isHelp = error.exitCode === 0 || error.code === 'commander.help';
    const isUnknown = /unknown|excess|invalid/i.test(error.code);
    return isHelp || (!isWhole && !isUnknown) ? null : `${error.code}: ${printed.join(' ')}`;
  }
}

describe('the documentation', () => {
  const commands = pages.flatMap(commandsOn);

  it('has no command that the command line does not take', async () => {
    expect(commands.filter(({ isWhole }) => isWhole).length).toBeGreaterThan(30);
    const refused: string[] = [];
    for (const written of commands) {
      const refusal = await refusalOf(written);
      if (refusal !== null) refused.push(`${written.page}: ${written.command}: ${refusal}`);
    }
    expect(refused).toEqual([]);
  });

  it('would be found with a wrong one', async () => {
    const of = (command: string) => refusalOf({ page: '', command, isWhole: true });
    expect(await of('svc projections list --switcj')).toContain('unknownOption');
    expect(await of('svc projection list')).toContain('unknownCommand');
    expect(await of('svc records Contact')).toContain('missingArgument');
    expect(await of('svc projections list # all')).toBeNull();
  });
});
