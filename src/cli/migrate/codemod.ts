import ts from 'typescript';
import { importRefusal } from '../compiler/bundle.ts';

/** Something in a file that a person has to look at. */
export interface ManualStep {
  readonly file: string;
  /** From 1; null: the file as a whole. */
  readonly line: number | null;
  readonly message: string;
}

export interface Rewritten {
  readonly text: string;
  /** Number of places that differ. */
  readonly edits: number;
  readonly manual: readonly ManualStep[];
}

/** The package that functions are written for. */
export interface Origin {
  /** As imports name it. */
  readonly packageName: string;
  /** Its last part without a scope: the word in names such as `_name_metadata`. */
  readonly word: string;
}

export const definers = ['createSync', 'createAction', 'createOnEvent'];
/** What the module `svc` exports besides. */
export const types: ReadonlySet<string> = new Set([
  'ActionError',
  'ProxyConfiguration',
  'ProxyResponse',
  'PaginationConfiguration',
  'HttpMethod',
  'Connection',
  'Integration',
]);
/** Methods of the handle under their former names. */
export const renamedMethods: Readonly<Record<string, string>> = { batchSend: 'batchSave' };
export const removedMethods: Readonly<Record<string, string>> = {
  getFieldMapping: 'Keep the mapping in the metadata: getMetadata().',
  setFieldMapping: 'Keep the mapping in the metadata: updateMetadata().',
};

export function originOf(packageName: string): Origin {
  const word = packageName.split('/').at(-1) ?? packageName;
  return { packageName, word };
}

/** Packages from which the file imports one of `createSync`, `createAction` and `createOnEvent`. */
export function definingPackages(text: string): string[] {
  const source = parse('file.ts', text);
  return (source === null ? [] : importsOf(source)).flatMap(({ specifier, named }) => {
    const defines = named.some((element) => definers.includes(importedName(element)));
    return defines && !specifier.text.startsWith('.') ? [specifier.text] : [];
  });
}

/** Null for text that is nested too deeply for the parser. */
function parse(file: string, text: string): ts.SourceFile | null {
  try {
    return ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

interface Import {
  readonly specifier: ts.StringLiteral;
  readonly clause: ts.ImportClause | undefined;
  readonly named: readonly ts.ImportSpecifier[];
}

const importsOf = (source: ts.SourceFile): Import[] =>
  source.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement)) return [];
    const { moduleSpecifier: specifier, importClause: clause } = statement;
    if (!ts.isStringLiteral(specifier)) return [];
    const bindings = clause?.namedBindings;
    const named = bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements : [];
    return [{ specifier, clause, named }];
  });

const importedName = ({ propertyName, name }: ts.ImportSpecifier): string =>
  (propertyName ?? name).text;

/** The file for `svc`. A file that is for `svc` already stays as it is. */
export function rewrite(file: string, text: string, origin: Origin): Rewritten {
  const source = parse(file, text);
  if (source === null) {
    const manual = [{ file, line: null, message: 'It is nested too deeply to be read.' }];
    return { text, edits: 0, manual };
  }
  const edits = new Map<number, { readonly end: number; readonly text: string }>();
  const manual: ManualStep[] = [];
  const replace = (node: ts.Node, by: string): void => {
    if (node.getText(source) === by) return;
    edits.set(node.getStart(source), { end: node.getEnd(), text: by });
  };
  const leave = (node: ts.Node, message: string): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    manual.push({ file, line: line + 1, message });
  };

  const renamed = renamedImports(source, origin, replace, leave);
  const ownHandle = isDeclared(source, 'svc') ? origin.word : 'svc';
  const metadata = `_${origin.word}_metadata`;
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isIdentifier(node)) {
      if (node.text === metadata) replace(node, '_svc_metadata');
      else if (!isNameOfMember(node)) {
        const wanted = node.text === origin.word ? ownHandle : renamed.get(node.text);
        if (wanted !== undefined && wanted !== node.text) {
          replace(node, isShorthand(node) ? `${node.text}: ${wanted}` : wanted);
        }
      }
    } else if (ts.isStringLiteralLike(node)) {
      replaceText(node);
    } else if (ts.isPropertyAccessExpression(node) && isHandle(node.expression, origin)) {
      const name = node.name.text;
      const better = Object.hasOwn(renamedMethods, name) ? renamedMethods[name] : undefined;
      if (better !== undefined) replace(node.name, better);
      const advice = Object.hasOwn(removedMethods, name) ? removedMethods[name] : undefined;
      if (advice !== undefined) leave(node, `${name} is gone. ${advice}`);
    }
    ts.forEachChild(node, visit);
  };
  const replaceText = (node: ts.StringLiteralLike): void => {
    const raw = node.getText(source);
    const header = `${origin.word}-proxy-`.toLowerCase();
    const isHeader = node.text.toLowerCase().startsWith(header);
    const better = isHeader
      ? `${raw.charAt(0)}svc-proxy-${raw.slice(1 + header.length)}`
      : raw.replaceAll(metadata, '_svc_metadata');
    if (better !== raw) replace(node, better);
    else if (node.text === origin.packageName || mentions(node.text, origin)) {
      leave(node, `The text ${raw.slice(0, 80)} names ${origin.packageName}.`);
    }
  };
  ts.forEachChild(source, visit);

  manual.push(...undefinedFunction(file, source));
  return { text: applied(text, edits), edits: edits.size, manual };
}

/** A file of a kind's folder in an older form. */
function undefinedFunction(file: string, source: ts.SourceFile): ManualStep[] {
  const isFunction = /(^|\/)(syncs|actions|on-events)\/[^/]+\.ts$/.test(file);
  if (!isFunction || definedBy(source) !== null) return [];
  const message = `It has no default export of ${definers.join(', ')}: define it with one of them.`;
  return [{ file, line: null, message }];
}

/** New names by local name; the imports themselves are rewritten. */
function renamedImports(
  source: ts.SourceFile,
  { packageName, word }: Origin,
  replace: (node: ts.Node, by: string) => void,
  leave: (node: ts.Node, message: string) => void,
): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>();
  for (const { specifier, clause, named } of importsOf(source)) {
    const from = specifier.text;
    const isTypeOnly = clause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    if (from === packageName) {
      const quote = specifier.getText(source).charAt(0);
      replace(specifier, `${quote}svc${quote}`);
      if (clause?.name !== undefined) leave(clause, `svc has no default export.`);
      for (const element of named) {
        const name = importedName(element);
        const handle = handleType(name, word);
        if (handle !== null && handle !== name) {
          replace(element.propertyName ?? element.name, handle);
          if (element.propertyName === undefined) renamed.set(name, handle);
        } else if (handle === null && !definers.includes(name) && !types.has(name)) {
          leave(element, `svc exports no ${name}.`);
        }
      }
    } else if (from.startsWith(`${packageName}/`)) {
      leave(specifier, `svc has no module like ${from}.`);
    } else if (!isTypeOnly) {
      const refusal = importRefusal(from);
      if (refusal !== null) leave(specifier, refusal);
    }
  }
  return renamed;
}

/** `NameSync` and `NameAction` of the package `name`; null for other names. */
function handleType(name: string, word: string): 'SvcSync' | 'SvcAction' | null {
  const own = name.toLowerCase();
  const prefix = word.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  if (own === `${prefix}sync` || name === 'SvcSync') return 'SvcSync';
  return own === `${prefix}action` || name === 'SvcAction' ? 'SvcAction' : null;
}

/** Whether the identifier names a member and no variable. */
function isNameOfMember(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) || ts.isMethodDeclaration(parent)) {
    return parent.name === node;
  }
  if (ts.isQualifiedName(parent)) return parent.right === node;
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  return (
    (ts.isPropertyAssignment(parent) ||
      ts.isPropertySignature(parent) ||
      ts.isMethodSignature(parent)) &&
    parent.name === node
  );
}

/** `{ name }` of an object or of a pattern: the name of the member stays. */
const isShorthand = ({ parent }: ts.Identifier): boolean =>
  ts.isShorthandPropertyAssignment(parent) ||
  (ts.isBindingElement(parent) &&
    parent.propertyName === undefined &&
    ts.isObjectBindingPattern(parent.parent));

const isHandle = (node: ts.Expression, { word }: Origin): boolean =>
  ts.isIdentifier(node) && (node.text === word || node.text === 'svc');

function isDeclared(source: ts.SourceFile, name: string): boolean {
  let isFound = false;
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && node.text === name && !isNameOfMember(node)) isFound = true;
    if (!isFound) ts.forEachChild(node, visit);
  };
  visit(source);
  return isFound;
}

/** The word stands alone or in a compound such as `nameConnectionId`, and not within another word. */
function mentions(text: string, { word }: Origin): boolean {
  const wanted = word.toLowerCase();
  if (wanted === 'svc') return false;
  if (/[^a-z0-9]/.test(wanted)) return text.toLowerCase().includes(wanted);
  const words = text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]/);
  return words.includes(wanted);
}

/** The kind of function that the file exports by default; null: none. */
function definedBy(source: ts.SourceFile): string | null {
  const calls = new Map<string, string>();
  const callOf = (node: ts.Expression | undefined): string | null =>
    node !== undefined && ts.isCallExpression(node) && ts.isIdentifier(node.expression)
      ? node.expression.text
      : null;
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement)) {
      for (const { name, initializer } of statement.declarationList.declarations) {
        const call = callOf(initializer);
        if (ts.isIdentifier(name) && call !== null) calls.set(name.text, call);
      }
    }
    if (!ts.isExportAssignment(statement)) continue;
    const { expression } = statement;
    const call = ts.isIdentifier(expression)
      ? (calls.get(expression.text) ?? null)
      : callOf(expression);
    return call !== null && definers.includes(call) ? call : null;
  }
  return null;
}

function applied(
  text: string,
  edits: ReadonlyMap<number, { readonly end: number; readonly text: string }>,
): string {
  let result = text;
  for (const [start, edit] of [...edits].sort(([a], [b]) => b - a)) {
    result = result.slice(0, start) + edit.text + result.slice(edit.end);
  }
  return result;
}
