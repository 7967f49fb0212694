import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const driver = fileURLToPath(new URL('./terminal.py', import.meta.url));
const programOf = (name: string): string =>
  fileURLToPath(new URL(`../../../dist/src/${name}.js`, import.meta.url));

/** The command line as somebody has it in front of them. */
export interface Terminal extends AsyncDisposable {
  /** Everything that was shown so far. */
  readonly shown: string;
  /** Resolves once the text was shown. @throws Error when the command ends before */
  shows(text: string): Promise<void>;
  /** Types it; a line ends with `\r`, Ctrl-C is `\x03`. */
  type(keys: string): void;
  readonly exited: Promise<number | null>;
}

/**
 * Starts `svc`, or another program of the service, in a pseudo-terminal. Python's own module makes it: there is none in Node, and the packages that
 * bring one are compiled when they are installed.
 */
export function openTerminal(
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly program?: string;
  },
): Terminal {
  const { PATH = '', HOME = '' } = process.env;
  const program = programOf(options.program ?? 'cli/main');
  const child = spawn('python3', [driver, process.execPath, program, ...args], {
    cwd: options.cwd,
    env: { PATH, HOME, TERM: 'xterm', ...options.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  let isOver = false;
  const changed = new EventTarget();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    changed.dispatchEvent(new Event('shown'));
  });
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      isOver = true;
      changed.dispatchEvent(new Event('shown'));
      resolve(code);
    });
  });
  return {
    get shown() {
      return shown;
    },
    async shows(text) {
      while (!shown.includes(text)) {
        if (isOver) throw new Error(`"${text}" was never shown:\n${shown}`);
        await new Promise((resolve) => {
          changed.addEventListener('shown', resolve, { once: true });
        });
      }
    },
    type: (keys) => void child.stdin.write(keys),
    exited,
    async [Symbol.asyncDispose]() {
      if (!isOver) child.kill('SIGTERM');
      child.stdin.destroy();
      await exited;
    },
  };
}
