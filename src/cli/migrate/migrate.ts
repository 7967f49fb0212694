import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CommandFailure } from '../exit.ts';
import {
  functionNamePattern,
  importLine,
  integrationKeyPattern,
  kindFolder,
  kinds,
} from '../project-layout.ts';
import { projectFrame } from '../scaffold.ts';
import { definingPackages, originOf, rewrite, type ManualStep } from './codemod.ts';

/** The outcome of a file of the new project. */
export interface Move {
  readonly file: string;
  /** `kept`: it exists with another content, which a person may have changed. */
  readonly outcome: 'new' | 'changed' | 'unchanged' | 'kept';
  readonly edits: number;
}

export interface Migration {
  readonly packageName: string;
  readonly moves: readonly Move[];
  readonly manual: readonly ManualStep[];
  /** Writes what is new or changed. */
  readonly write: () => void;
}

const skippedFolders = new Set(['node_modules', 'dist', 'build']);
const isTest = (file: string): boolean => /(^|\/)(tests|mocks)\/|\.(test|spec)\.ts$/.test(file);
const filesMax = 20_000;

/**
 * Plans the move of a project of functions of another package into the folder `target`. Nothing is written before
 * `write`.
 * @throws CommandFailure when the folder has no such functions
 */
export function planMigration(options: {
  readonly source: string;
  readonly target: string;
  /** The package that the functions import; found in them by default. */
  readonly packageName: string | undefined;
  readonly mayReplace: boolean;
}): Migration {
  const { target, mayReplace } = options;
  const source = functionsFolder(resolve(options.source));
  const all = sourceFiles(source);
  const files = new Map(
    all
      .filter((file) => !isTest(file))
      .map((file) => [file, readFileSync(join(source, file), 'utf8')]),
  );
  const origin = originOf(options.packageName ?? packageOf([...files.values()], source));
  const isInPlace = resolve(source) === resolve(target);
  const manual: ManualStep[] = [];
  const written = new Map<string, string>();
  const edits = new Map<string, number>();
  for (const [file, text] of files) {
    const rewritten = rewrite(file, text, origin);
    manual.push(...rewritten.manual);
    written.set(file, rewritten.text);
    edits.set(file, rewritten.edits);
  }
  manual.push(...besides(source, all, origin.word));
  const functions = [...files.keys()].flatMap((file) => functionOf(file, manual));
  if (!written.has('index.ts')) {
    written.set('index.ts', functions.map((named) => importLine(...named)).join(''));
  }
  for (const [file, text] of Object.entries(frameOf(target))) {
    if (!existsSync(join(target, file))) written.set(file, text);
  }
  const moves = [...written].map(([file, text]): Move => {
    const path = join(target, file);
    const existing = existsSync(path) ? readFileSync(path, 'utf8') : null;
    const isOurs = isInPlace || mayReplace;
    const outcome =
      existing === null ? 'new' : existing === text ? 'unchanged' : isOurs ? 'changed' : 'kept';
    return { file, outcome, edits: edits.get(file) ?? 0 };
  });
  return {
    packageName: origin.packageName,
    moves: moves.sort((a, b) => (a.file < b.file ? -1 : 1)),
    manual,
    write() {
      for (const { file, outcome } of moves) {
        if (outcome !== 'new' && outcome !== 'changed') continue;
        mkdirSync(dirname(join(target, file)), { recursive: true });
        writeFileSync(join(target, file), written.get(file) ?? '');
      }
    },
  };
}

/** The folder itself, or the one in it that holds the functions of the repository. */
function functionsFolder(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new CommandFailure(`There is no folder ${folder}`);
  }
  if (existsSync(join(folder, 'index.ts'))) return folder;
  const inside = readdirSync(folder).filter(
    (name) => name.endsWith('-integrations') && existsSync(join(folder, name, 'index.ts')),
  );
  return inside.length === 1 ? join(folder, inside[0] ?? '') : folder;
}

/** Relative paths; links are not followed. */
function sourceFiles(root: string, below = ''): string[] {
  const found = readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) {
      const isSkipped = skippedFolders.has(entry.name) || entry.name.startsWith('.');
      return isSkipped ? [] : sourceFiles(root, path);
    }
    return entry.isFile() && /\.ts$/.test(entry.name) && !entry.name.endsWith('.d.ts')
      ? [path]
      : [];
  });
  if (found.length > filesMax) throw new CommandFailure(`${root} has more than ${filesMax} files`);
  return found;
}

function packageOf(texts: readonly string[], source: string): string {
  const names = new Set(texts.flatMap(definingPackages));
  // A run that was interrupted has moved some of them.
  if (names.size > 1) names.delete('svc');
  const [name, ...others] = names;
  if (name === undefined) {
    throw new CommandFailure(
      `No file in ${source} imports createSync, createAction or createOnEvent from a package`,
    );
  }
  if (others.length === 0) return name;
  const list = [...names].join(', ');
  throw new CommandFailure(
    `The functions import several packages (${list}): name one with --package`,
  );
}

/** What is beside the functions and does not move. */
function besides(source: string, files: readonly string[], word: string): ManualStep[] {
  const whole = (file: string, message: string): ManualStep => ({ file, line: null, message });
  const yaml = [`${word}.yaml`, `${word}.yml`].filter((name) => existsSync(join(source, name)));
  return [
    ...yaml.map((name) =>
      whole(name, 'Functions of a YAML configuration do not move: define them in TypeScript.'),
    ),
    ...(files.some(isTest)
      ? [whole('tests', 'Tests and saved responses do not move: svc generate:tests writes them.')]
      : []),
  ];
}

type ImportLineInput = Parameters<typeof importLine>;

function functionOf(file: string, manual: ManualStep[]): ImportLineInput[] {
  const [integration = '', folder = '', name = '', ...deeper] = file.split('/');
  const kind = kinds.find((one) => kindFolder[one] === folder);
  if (kind === undefined || deeper.length > 0) return [];
  const base = basename(name, '.ts');
  if (integrationKeyPattern.test(integration) && functionNamePattern.test(base)) {
    return [[integration, kind, base]];
  }
  manual.push({
    file,
    line: null,
    message: 'Its name is not valid here: letters, digits, _ and -.',
  });
  return [];
}

/** Files of a project besides its functions. */
function frameOf(target: string): Readonly<Record<string, string>> {
  const manifest = {
    name: basename(resolve(target))
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]/g, '-'),
    version: '0.0.0',
    private: true,
    type: 'module',
  };
  return {
    ...projectFrame,
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
  };
}
