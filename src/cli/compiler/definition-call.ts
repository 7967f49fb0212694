import ts from 'typescript';
import type { FunctionKind } from '#modules/functions/functions/function.ts';
import { problemAt, type Problem } from './problem.ts';

/** The parsed `create*` call of an entry file. */
export interface DefinitionCall {
  readonly kind: FunctionKind;
  readonly options: ts.ObjectLiteralExpression;
}

const makers: ReadonlyMap<string, FunctionKind> = new Map([
  ['createSync', 'sync'],
  ['createAction', 'action'],
  ['createOnEvent', 'on-event'],
]);

const invalidExport =
  'Invalid default export: should be createAction(), createSync() or createOnEvent()';

/** The default-exported definition of the file, or the problem with it. */
export function definitionCall(root: string, file: ts.SourceFile): DefinitionCall | Problem {
  const exported = file.statements.find(
    (statement) => ts.isExportAssignment(statement) && statement.isExportEquals !== true,
  );
  if (exported === undefined) {
    return { ...problemAt(root, file, invalidExport), line: 1, column: 1 };
  }
  const call = callOf(file, (exported as ts.ExportAssignment).expression);
  const kind = call === null ? undefined : makers.get(madeBy(file, call.expression) ?? '');
  if (call === null || kind === undefined) return problemAt(root, exported, invalidExport);
  const options = call.arguments[0] === undefined ? null : unwrap(call.arguments[0]);
  if (options === null || !ts.isObjectLiteralExpression(options) || call.arguments.length > 1) {
    return problemAt(root, call, 'Invalid function parameter, should be an object');
  }
  return { kind, options };
}

/** `createX(…)` itself, or the constant that holds it. */
function callOf(file: ts.SourceFile, expression: ts.Expression): ts.CallExpression | null {
  const value = unwrap(expression);
  if (ts.isCallExpression(value)) return value;
  if (!ts.isIdentifier(value)) return null;
  const declared = constants(file).find(
    ({ name }) => ts.isIdentifier(name) && name.text === value.text,
  );
  const initializer = declared?.initializer === undefined ? null : unwrap(declared.initializer);
  return initializer !== null && ts.isCallExpression(initializer) ? initializer : null;
}

const constants = (file: ts.SourceFile): ts.VariableDeclaration[] =>
  file.statements.flatMap((statement) =>
    ts.isVariableStatement(statement) ? [...statement.declarationList.declarations] : [],
  );

/** The name under which the module `svc` exports the callee, whatever its local name. */
function madeBy(file: ts.SourceFile, callee: ts.Expression): string | null {
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier))
      continue;
    if (statement.moduleSpecifier.text !== 'svc') continue;
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined) continue;
    if (ts.isNamespaceImport(bindings)) {
      if (!ts.isPropertyAccessExpression(callee) || !ts.isIdentifier(callee.expression)) continue;
      if (callee.expression.text === bindings.name.text) return callee.name.text;
    } else if (ts.isIdentifier(callee)) {
      const found = bindings.elements.find(({ name }) => name.text === callee.text);
      if (found !== undefined) return (found.propertyName ?? found.name).text;
    }
  }
  return null;
}

/** Without parentheses, `as` and `satisfies`. */
export function unwrap(expression: ts.Expression): ts.Expression {
  if (
    ts.isParenthesizedExpression(expression) ||
    ts.isAsExpression(expression) ||
    ts.isSatisfiesExpression(expression) ||
    ts.isNonNullExpression(expression)
  ) {
    return unwrap(expression.expression);
  }
  return expression;
}

/** The option of that name if it is in the literal. */
export function optionNode(
  options: ts.ObjectLiteralExpression,
  name: string,
): ts.ObjectLiteralElementLike | undefined {
  return options.properties.find(
    (property) =>
      property.name !== undefined &&
      (ts.isIdentifier(property.name) || ts.isStringLiteral(property.name)) &&
      property.name.text === name,
  );
}

/** The function of an option: inline, a method, or declared in the same file. */
export function functionOption(
  file: ts.SourceFile,
  options: ts.ObjectLiteralExpression,
  name: string,
): ts.SignatureDeclaration | null {
  const property = optionNode(options, name);
  if (property === undefined) return null;
  if (ts.isMethodDeclaration(property)) return property;
  const value = ts.isPropertyAssignment(property)
    ? unwrap(property.initializer)
    : ts.isShorthandPropertyAssignment(property)
      ? property.name
      : null;
  return value === null ? null : functionOf(file, value);
}

function functionOf(file: ts.SourceFile, value: ts.Expression): ts.SignatureDeclaration | null {
  if (ts.isArrowFunction(value) || ts.isFunctionExpression(value)) return value;
  if (!ts.isIdentifier(value)) return null;
  for (const statement of file.statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name?.text === value.text)
      return statement;
  }
  const held = constants(file).find(
    ({ name }) => ts.isIdentifier(name) && name.text === value.text,
  );
  if (held?.initializer === undefined) return null;
  const initializer = unwrap(held.initializer);
  return ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)
    ? initializer
    : null;
}

/** Values that the entry exports by name; types and re-exports are allowed. */
export function namedExports(root: string, file: ts.SourceFile): Problem[] {
  const problems: Problem[] = [];
  const refuse = (node: ts.Node, name: string): void => {
    problems.push(problemAt(root, node, `Named export '${name}' is not allowed`));
  };
  for (const statement of file.statements) {
    if (ts.isExportDeclaration(statement)) {
      for (const specifier of localValues(file, statement)) refuse(specifier, specifier.name.text);
    } else if (isExportedValue(statement)) {
      for (const name of declaredNames(statement)) refuse(name, name.text);
    }
  }
  return problems;
}

/** `export { x }` of values of this file. */
function localValues(file: ts.SourceFile, statement: ts.ExportDeclaration): ts.ExportSpecifier[] {
  if (statement.moduleSpecifier !== undefined || statement.isTypeOnly) return [];
  const clause = statement.exportClause;
  if (clause === undefined || !ts.isNamedExports(clause)) return [];
  const values = new Set(file.statements.flatMap(declaredNames).map(({ text }) => text));
  return clause.elements.filter(
    ({ isTypeOnly, name, propertyName = name }) =>
      !isTypeOnly && name.text !== 'default' && values.has(propertyName.text),
  );
}

function isExportedValue(statement: ts.Statement): boolean {
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) return false;
  if (!ts.canHaveModifiers(statement)) return false;
  const modifiers = ts.getModifiers(statement) ?? [];
  const has = (kind: ts.SyntaxKind): boolean =>
    modifiers.some((modifier) => modifier.kind === kind);
  return (
    has(ts.SyntaxKind.ExportKeyword) &&
    !has(ts.SyntaxKind.DefaultKeyword) &&
    !has(ts.SyntaxKind.DeclareKeyword)
  );
}

function declaredNames(statement: ts.Statement): ts.Identifier[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => bound(name));
  }
  const named =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isEnumDeclaration(statement) ||
    ts.isModuleDeclaration(statement);
  return named && statement.name !== undefined && ts.isIdentifier(statement.name)
    ? [statement.name]
    : [];
}

function bound(name: ts.BindingName): ts.Identifier[] {
  if (ts.isIdentifier(name)) return [name];
  return name.elements.flatMap((element) =>
    ts.isOmittedExpression(element) ? [] : bound(element.name),
  );
}
