/**
 * `npm run language`: fails on a type that is named by a participle or another word that is no noun, and on a field or
 * parameter that does not bear the name of its class (docs/glossary.md, "Names in code").
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { classMismatch, isNounlike } from './names.ts';

interface Finding {
  readonly position: string;
  readonly problem: string;
}

type TypeDeclaration =
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | (ts.ClassDeclaration & { readonly name: ts.Identifier });

const isTypeDeclaration = (node: ts.Node): node is TypeDeclaration =>
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  (ts.isClassDeclaration(node) && node.name !== undefined);

/** A member or parameter whose declared type is one name. */
type TypedMember = (ts.PropertyDeclaration | ts.PropertySignature | ts.ParameterDeclaration) & {
  readonly name: ts.Identifier | ts.PrivateIdentifier;
  readonly type: ts.TypeReferenceNode & { readonly typeName: ts.Identifier };
};

const isTypedMember = (node: ts.Node): node is TypedMember =>
  (ts.isPropertyDeclaration(node) || ts.isPropertySignature(node) || ts.isParameter(node)) &&
  (ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name)) &&
  node.type !== undefined &&
  ts.isTypeReferenceNode(node.type) &&
  ts.isIdentifier(node.type.typeName);

function* nodesOf(source: ts.SourceFile): Generator<ts.Node> {
  const nodes: ts.Node[] = [source];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    yield node;
    node.forEachChild((child) => void nodes.push(child));
  }
}

/** Classes whose name no other kind of type bears; errors have names of their own (`cause`, `error`). */
function classNames(sources: readonly ts.SourceFile[]): ReadonlySet<string> {
  const classes = new Set<string>();
  const others = new Set<string>();
  for (const source of sources) {
    for (const node of nodesOf(source)) {
      if (!isTypeDeclaration(node)) continue;
      (ts.isClassDeclaration(node) ? classes : others).add(node.name.text);
    }
  }
  return new Set(
    [...classes].filter(
      (name) => !others.has(name) && !name.endsWith('Error') && !Object.hasOwn(globalThis, name),
    ),
  );
}

function* findingsIn(source: ts.SourceFile, classes: ReadonlySet<string>): Generator<Finding> {
  const positionOf = (node: ts.Node): string =>
    `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
  for (const node of nodesOf(source)) {
    if (isTypeDeclaration(node) && !isNounlike(node.name.text)) {
      const problem = `type "${node.name.text}" is no noun; say what its value is`;
      yield { position: positionOf(node.name), problem };
    }
    if (!isTypedMember(node) || !classes.has(node.type.typeName.text)) continue;
    const problem = classMismatch(node.name.text, node.type.typeName.text);
    if (problem !== null) yield { position: positionOf(node.name), problem };
  }
}

const sources = execFileSync(
  'git',
  ['ls-files', 'src/*.ts', 'src/*.tsx', 'streams/*.ts', 'templates/*.ts'],
  {
    encoding: 'utf8',
  },
)
  .trim()
  .split('\n')
  // Generated; its types bear the names of the API.
  .filter((file) => file !== 'src/client/operations.ts')
  .map((file) =>
    ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true),
  );
const classes = classNames(sources);
const findings = sources.flatMap((source) => [...findingsIn(source, classes)]);
for (const { position, problem } of findings) console.error(`${position}: ${problem}`);
console.log(
  `${sources.length} files, ${classes.size} classes, ${findings.length} names to replace`,
);
process.exitCode = findings.length === 0 ? 0 : 1;
