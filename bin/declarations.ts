import { spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

/** An entry of a package. */
interface Declared {
  /** Its source, relative to the root. */
  readonly entry: string;
  /** Takes the declarations, at their paths relative to `base`. */
  readonly outdir: string;
  readonly base: string;
  /** Also for `require` (`.d.cts`). */
  readonly isDual: boolean;
}

/**
 * Writes the declarations of the entries and of what their types need. TypeScript names a module by its source
 * (`./x.ts`) there too, which nothing but a bundler resolves: the specifiers are rewritten.
 * @throws Error with the messages of the compiler
 */
export function writeDeclarations(root: string, entries: readonly Declared[]): void {
  const emitted = mkdtempSync(join(tmpdir(), 'svc-declarations-'));
  try {
    emit(
      root,
      emitted,
      entries.map(({ entry }) => entry),
    );
    for (const file of globSync('**/*.d.ts', { cwd: emitted }))
      nameByPath(root, emitted, join(emitted, file));
    for (const declared of entries) {
      for (const file of reachable(join(emitted, declared.entry.replace(/\.ts$/, '.d.ts')))) {
        const out = join(declared.outdir, relative(join(emitted, declared.base), file));
        write(out, readFileSync(file, 'utf8'), declared.isDual);
      }
    }
  } finally {
    rmSync(emitted, { recursive: true, force: true });
  }
}

function emit(root: string, outDir: string, entries: readonly string[]): void {
  const config = join(outDir, 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: root,
    outDir,
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const files = entries.map((entry) => join(root, entry));
  const extended = join(root, 'tsconfig.json');
  writeFileSync(config, JSON.stringify({ extends: extended, compilerOptions, include: [], files }));
  const tsc = join(root, 'node_modules/typescript-native/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', config], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The declarations were not written:\n${stdout}`);
  // A declaration that is a source itself is not emitted, and is named by its path from the output.
  const sdk = join(outDir, 'src/sdk');
  const unzipper = join(root, 'src/sdk/unzipper.d.ts');
  cpSync(unzipper, join(sdk, 'unzipper.d.ts'));
  const index = join(sdk, 'index.d.ts');
  const text = readFileSync(index, 'utf8');
  writeFileSync(index, text.replace(relative(sdk, unzipper), './unzipper.d.ts'));
}

/** A name of the package's `imports` (`#kernel/ids.ts`), which only files within the package resolve. */
const subpaths = /(?<=from '|import\(")(#[a-z-]+\/)([^'"]+)(?=['"])/g;

/** Rewrites subpath imports of a declaration to relative paths. */
function nameByPath(root: string, emitted: string, file: string): void {
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly imports: Readonly<Record<string, string>>;
  };
  const text = readFileSync(file, 'utf8');
  const named = text.replace(subpaths, (_, prefix: string, path: string) => {
    const target = imports[`${prefix}*`]?.replace('*', path);
    if (target === undefined) throw new Error(`package.json has no import ${prefix}*`);
    const fromHere = relative(dirname(file), join(emitted, target));
    return fromHere.startsWith('.') ? fromHere : `./${fromHere}`;
  });
  if (named !== text) writeFileSync(file, named);
}

/** What follows `from`, `import(` and in `reference path=`. */
const specifiers = /(?<=from '|import\("|reference path=")(\.[^'"]+?)(\.d)?\.ts(?=['"])/g;

/** A file of declarations and all that it names, each once. */
function reachable(entry: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(entry)) return found;
  found.add(entry);
  for (const [, path = ''] of readFileSync(entry, 'utf8').matchAll(specifiers)) {
    reachable(resolve(dirname(entry), `${path}.d.ts`), found);
  }
  return found;
}

function write(file: string, text: string, isDual: boolean): void {
  mkdirSync(dirname(file), { recursive: true });
  const named = (extension: string): string =>
    text.replace(specifiers, (whole, path: string, ambient?: string) =>
      ambient === undefined ? `${path}.${extension}` : whole,
    );
  writeFileSync(file, named('js'));
  if (isDual) writeFileSync(file.replace(/\.d\.ts$/, '.d.cts'), named('cjs'));
}
