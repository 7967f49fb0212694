import { spawn } from 'node:child_process';
import type { Client } from '#client/index.ts';
import { withAccount } from '../account.ts';
import { defineCommand } from '../command.ts';
import { usageError } from '../exit.ts';
import { inEnvironment, serviceHelp, serviceOptions } from '../service-command.ts';

/** The program of the system that opens an address in the browser. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

export const consoleCommand = defineCommand({
  name: 'console',
  usage: '',
  summary: 'Print a link that signs a browser in to the console, once',
  about: `The link is valid for five minutes and for one sign-in, with the key of the environment or of the account. It contains
a code after "#", never the key.`,
  options: {
    ...serviceOptions,
    environment: ['-e, --environment <name>', 'with the key of this environment'],
    account: ['--account', 'with the key of the account (SVC_ACCOUNT_KEY)'],
    open: ['--open', 'also open it in the browser'],
  },
  help: `${serviceHelp}

Examples
  svc console -e dev
  svc console --account --open`,

  async run({ values }, context) {
    const isAccount = values.account === true;
    if (isAccount && values.environment !== undefined) {
      throw usageError('Name an environment or --account, not both');
    }
    const { output } = context;
    const print = async (client: Client): Promise<void> => {
      const answer = await client.request('POST /console/codes');
      const { url, expires_at: until } = answer.data;
      output.result(values.json === true ? JSON.stringify(answer) : url);
      output.note(`The link expires at ${until}`);
      if (values.open === true) openInBrowser(url, (line) => output.note(line));
    };
    await (isAccount ? withAccount(context, print) : inEnvironment(context, values, print));
  },
});

function openInBrowser(url: string, note: (line: string) => void): void {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.once('error', () => note(`${program} was not found: open the link yourself`));
  child.unref();
}
