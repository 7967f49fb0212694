import { commands, overview, usageOf } from '../cli/commands/help.ts';

/** `docs/generated/cli.md`: the help of the command line, which each command declares. */
export function cliPage(hint: string): string {
  const sections = commands.map((command) => {
    return `## svc ${command.name}\n\n${fenced(usageOf(command))}`;
  });
  return `# Commands

The help of every command, as \`svc help\` prints it. Variables, exit codes and files are described in the
[reference](../reference/cli.md). ${hint}

${fenced(overview())}

${sections.join('\n\n')}
`;
}

const fenced = (text: string): string => `\`\`\`text\n${text}\n\`\`\``;
