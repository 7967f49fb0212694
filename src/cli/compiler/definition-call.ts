import ts from 'typescript';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { parseFrequency } from '#modules/functions/functions/frequency.ts';
import type { FunctionDefinition } from '#ports/sandbox.ts';
import { columnsOf } from '#rules/projection-columns.ts';
import type { AnyEntry, Entry, ProjectionEntry } from './entries.ts';
import { problemAt, type Problem } from './problem.ts';

/** The parsed `create*` call of an entry file. */
export interface DefinitionCall {
  readonly kind: AnyEntry['kind'];
  readonly options: ts.ObjectLiteralExpression;
}

const makers: ReadonlyMap<string, AnyEntry['kind']> = new Map([
  ['createSync', 'sync'],
  ['createAction', 'action'],
  ['createOnEvent', 'on-event'],
  ['createOnChange', 'on-change'],
  ['createProjection', 'projection'],
]);

const invalidExport =
  'Invalid default export: should be createSync(), createAction(), createOnEvent(), createOnChange() or createProjection()';

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

/** A function or projection whose bundle was loaded. */
export interface LoadedEntry<E extends AnyEntry> {
  readonly entry: E;
  readonly definition: FunctionDefinition;
  readonly call: DefinitionCall;
}

export type LoadedFunction = LoadedEntry<Entry>;
export type LoadedProjection = LoadedEntry<ProjectionEntry>;

const events = ['post-connection-creation', 'pre-connection-deletion', 'validate-connection'];
const modelName = /^[A-Z][a-zA-Z0-9_]+$/;
const modelNameCharsMax = 255;
const descriptionCharsMax = 2000;

/** Rules that need the values of the definitions, not only their source (docs/reference/cli.md#compilation). */
export function definitionProblems(root: string, all: readonly LoadedFunction[]): Problem[] {
  return [
    ...all.flatMap((one) => [...commonProblems(root, one), ...syncProblems(root, one)]),
    ...repeatedModels(root, all),
    ...repeatedEndpoints(root, all),
  ];
}

export function deprecations(root: string, all: readonly LoadedFunction[]): Problem[] {
  return all
    .filter(({ definition }) => definition.trackDeletes)
    .map((one) =>
      at(root, one, 'trackDeletes', 'trackDeletes is deprecated, use trackDeletesStart/End()'),
    );
}

/** The row of a projection must be one of a table. */
export const projectionProblems = (root: string, all: readonly LoadedProjection[]): Problem[] =>
  all.flatMap((one) => {
    const { projection } = one.definition;
    const problems = projection === undefined ? [] : columnsOf(projection).problems;
    return problems.map(({ at: option, message }) => at(root, one, option, message));
  });

/** The problem at the option's position in the file, or at the definition's if the option is not there. */
function at(
  root: string,
  { call }: LoadedEntry<AnyEntry>,
  option: string,
  message: string,
): Problem {
  const node: ts.Node = optionNode(call.options, option) ?? call.options;
  return problemAt(root, node, message);
}

function commonProblems(root: string, one: LoadedFunction): Problem[] {
  const { definition } = one;
  const problems: Problem[] = [];
  if (!definition.hasExec) problems.push(at(root, one, 'exec', 'exec should be a function'));
  if (definition.description.length > descriptionCharsMax) {
    problems.push(at(root, one, 'description', 'The description is longer than 2000 characters'));
  }
  if (definition.checkpoint !== null && !isFlatObject(definition.checkpoint)) {
    const message = 'A checkpoint should be a flat object of strings, numbers and booleans';
    problems.push(at(root, one, 'checkpoint', message));
  }
  if (one.entry.kind === 'on-event' && !events.includes(definition.event ?? '')) {
    const message = `Unknown event "${definition.event ?? ''}": should be one of ${events.join(', ')}`;
    problems.push(at(root, one, 'event', message));
  }
  if (one.entry.kind === 'on-change' && Object.keys(definition.models).length === 0) {
    problems.push(at(root, one, 'models', 'models should name at least one model'));
  }
  return problems;
}

function syncProblems(root: string, one: LoadedFunction): Problem[] {
  const { definition, entry } = one;
  if (entry.kind !== 'sync') return [];
  const problems: Problem[] = [];
  const interval = intervalProblem(definition.frequency);
  if (interval !== null) problems.push(at(root, one, 'frequency', interval));
  const models = Object.keys(definition.models);
  for (const model of models) {
    if (modelName.test(model) && model.length <= modelNameCharsMax) continue;
    const message = `Model name "${model}" is invalid: it should start with a capital letter and hold letters, digits and _ only`;
    problems.push(at(root, one, 'models', message));
  }
  const { endpoints } = definition;
  if (endpoints.length > 0 && endpoints.length !== models.length) {
    const message = `There should be one endpoint per model: found ${endpoints.length} for ${models.length} models`;
    problems.push(at(root, one, 'endpoints', message));
  }
  if (definition.trackDeletes && definition.syncType === 'incremental') {
    const message = 'trackDeletes cannot be used with an incremental sync';
    problems.push(at(root, one, 'trackDeletes', message));
  }
  return problems;
}

function intervalProblem(frequency: string | null): string | null {
  try {
    parseFrequency(frequency ?? '');
    return null;
  } catch (error) {
    return `Interval is invalid: ${error instanceof Error ? error.message : ''}`;
  }
}

/** Records of a connection are stored by model: two syncs of an integration cannot share one. */
function repeatedModels(root: string, all: readonly LoadedFunction[]): Problem[] {
  const seen = new Set<string>();
  return all.flatMap((one) =>
    Object.keys(one.definition.models).flatMap((model) => {
      const key = `${one.entry.integrationKey}/${model}`;
      if (one.entry.kind !== 'sync' || !seen.has(key)) {
        seen.add(key);
        return [];
      }
      return [at(root, one, 'models', `Model "${model}" is defined multiple times`)];
    }),
  );
}

function repeatedEndpoints(root: string, all: readonly LoadedFunction[]): Problem[] {
  const seen = new Set<string>();
  return all.flatMap((one) => {
    const { endpoint, endpoints } = one.definition;
    const [option, declared] =
      one.entry.kind === 'sync'
        ? ['endpoints', endpoints]
        : ['endpoint', endpoint === null ? [] : [endpoint]];
    return declared.flatMap((each) => {
      const name = endpointName(each);
      const key = `${one.entry.integrationKey} ${name}`;
      const isRepeated = seen.has(key);
      seen.add(key);
      return isRepeated
        ? [at(root, one, option, `Endpoint "${name}" is defined multiple times`)]
        : [];
    });
  });
}

function endpointName({ method, path }: JsonObject): string {
  return `${typeof method === 'string' ? method : 'GET'} ${typeof path === 'string' ? path : ''}`;
}

/** Whether the JSON Schema describes an object whose values are strings, numbers or booleans only. */
function isFlatObject(schema: JsonObject): boolean {
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) {
    return choices.every((choice: Json) => isJsonObject(choice) && isFlatObject(choice));
  }
  if (schema['type'] !== 'object') return false;
  const properties = isJsonObject(schema['properties']) ? Object.values(schema['properties']) : [];
  const others = schema['additionalProperties'];
  return [...properties, ...(isJsonObject(others) ? [others] : [])].every(isLeaf);
}

function isLeaf(schema: Json): boolean {
  if (!isJsonObject(schema)) return false;
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return choices.every(isLeaf);
  const { type } = schema;
  if ('const' in schema) return isLeafValue(schema['const']);
  if (Array.isArray(schema['enum'])) return schema['enum'].every(isLeafValue);
  return type === 'string' || type === 'number' || type === 'integer' || type === 'boolean';
}

const isLeafValue = (value: Json | undefined): boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);
