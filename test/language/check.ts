/**
 * `npm run language`: fails on file names and declared identifiers that docs/glossary.md replaces, and names the word
 * to use. Names that a standard or Node itself uses are listed with the files in which they stand.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import ts from 'typescript';
import { oldFiles, oldNames } from './old-names.ts';

interface Finding {
  readonly place: string;
  readonly name: string;
  readonly use: string;
}

const whole = new Map(
  oldNames.filter(({ isPart }) => isPart !== true).map((one) => [one.old, one]),
);
const parts = new Map(
  oldNames.filter(({ isPart }) => isPart === true).map((one) => [one.old, one]),
);

const wordsOf = (name: string): string[] =>
  name.split(/(?=[A-Z])|_/).map((word) => word.toLowerCase());

function oldNameIn(name: string, file: string, isLocal: boolean) {
  const candidates = [whole.get(name), ...wordsOf(name).map((word) => parts.get(word))];
  return candidates.find(
    (one) =>
      one !== undefined && one.allowedIn?.test(file) !== true && (isLocal || one.isLocal !== true),
  );
}

/** Declarations; a property of an object literal, or what is taken out of one, has the name of its type. */
const declares = (node: ts.Node): node is ts.NamedDeclaration & { name: ts.Identifier } =>
  'name' in node &&
  node.name !== undefined &&
  (ts.isIdentifier(node.name as ts.Node) || ts.isPrivateIdentifier(node.name as ts.Node)) &&
  (ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isFunctionLike(node) ||
    ts.isClassLike(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertySignature(node));

function* findingsIn(file: string): Generator<Finding> {
  const name = basename(file).replace(/(\.[a-z]+)*\.tsx?$/, '');
  const use = Object.hasOwn(oldFiles, name) ? oldFiles[name] : undefined;
  if (use !== undefined) yield { place: file, name, use };
  const source = ts.createSourceFile(
    file,
    readFileSync(file, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const nodes: ts.Node[] = [source];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (declares(node)) {
      const declared = node.name.text.replace(/^#/, '');
      const old = oldNameIn(declared, file, ts.isVariableDeclaration(node) || ts.isParameter(node));
      const line = source.getLineAndCharacterOfPosition(node.name.getStart()).line + 1;
      if (old !== undefined) yield { place: `${file}:${line}`, name: declared, use: old.use };
    }
    node.forEachChild((child) => void nodes.push(child));
  }
}

const files = execFileSync('git', ['ls-files', 'src/*.ts', 'src/*.tsx', 'streams/*.ts'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '');
const findings = files.flatMap((file) => [...findingsIn(file)]);
for (const { place, name, use } of findings)
  console.error(`${place}: "${name}" is not a word of docs/glossary.md; use ${use}`);
console.log(`${files.length} files, ${findings.length} names to replace`);
process.exitCode = findings.length === 0 ? 0 : 1;
