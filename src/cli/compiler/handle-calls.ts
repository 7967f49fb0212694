import ts from 'typescript';
import { unwrap } from './definition-call.ts';
import { problemAt, type Problem } from './problem.ts';

const httpMethods = ['get', 'post', 'put', 'patch', 'delete', 'proxy'] as const;
const batchMethods = ['batchSave', 'batchUpdate', 'batchDelete', 'batchSend'] as const;
export const http: ReadonlySet<string> = new Set([...httpMethods, 'paginate', 'uncontrolledFetch']);
export const batch: ReadonlySet<string> = new Set(batchMethods);
const checkpoint: ReadonlySet<string> = new Set([
  'getCheckpoint',
  'saveCheckpoint',
  'clearCheckpoint',
]);
/** Methods whose promise must be awaited: otherwise the end of the run would cut them off. */
const awaited: ReadonlySet<string> = new Set([
  ...httpMethods,
  ...batchMethods,
  ...checkpoint,
  'uncontrolledFetch',
  'log',
  'getMetadata',
  'setMetadata',
  'updateMetadata',
  'getConnection',
  'getEnvironmentVariables',
  'triggerAction',
  'trackDeletesStart',
  'trackDeletesEnd',
  'setMergingStrategy',
]);

/** A call of a method of the handle (`svc`), in the order of the file. */
export interface HandleCall {
  readonly call: ts.CallExpression;
  readonly method: string;
}

/** Names of the handle in the given functions: their first parameter. */
export function handleNames(functions: readonly (ts.SignatureDeclaration | null)[]): Set<string> {
  const names = functions.map((one) => one?.parameters[0]?.name);
  return new Set(
    names.flatMap((name) => (name !== undefined && ts.isIdentifier(name) ? [name.text] : [])),
  );
}

/** Members by which the type of a handle is recognized. */
export const handleMembers = ['uncontrolledFetch', 'getConnection', 'triggerAction'];

/**
 * Calls of the handle within the node. The handle is recognized by the name of the parameter; `typed` are others, such
 * as the parameter of a helper.
 */
export function handleCalls(
  within: ts.Node,
  names: ReadonlySet<string>,
  typed: ReadonlySet<ts.Expression> = new Set(),
): HandleCall[] {
  return methodCalls(within)
    .filter(({ value }) => isNamed(value, names) || typed.has(value))
    .sort((a, b) => a.call.expression.end - b.call.expression.end);
}

/** Values that would be a handle by their type, where a method with rules is called. */
export const handleCandidates = (within: ts.Node, names: ReadonlySet<string>): ts.Expression[] =>
  methodCalls(within).flatMap(({ value, method }) => {
    const hasRules = awaited.has(method) || http.has(method);
    return hasRules && ts.isIdentifier(value) && !isNamed(value, names) ? [value] : [];
  });

function methodCalls(within: ts.Node): (HandleCall & { readonly value: ts.Expression })[] {
  const calls: ReturnType<typeof methodCalls> = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { expression, name } = node.expression;
      calls.push({ call: node, method: name.text, value: unwrap(expression) });
    }
    ts.forEachChild(node, visit);
  };
  visit(within);
  return calls;
}

const isNamed = (value: ts.Expression, names: ReadonlySet<string>): boolean =>
  ts.isIdentifier(value) && names.has(value.text);

/** Rules for each single call: awaited, and no `retryOn` without `retries`. */
export function callProblems(root: string, calls: readonly HandleCall[]): Problem[] {
  return calls.flatMap(({ call, method }) => {
    const problems: Problem[] = [];
    if (awaited.has(method) && !isUsed(call)) {
      problems.push(problemAt(root, call, `svc.${method}() calls must be awaited`));
    }
    const config = call.arguments[0] === undefined ? null : unwrap(call.arguments[0]);
    if (http.has(method) && config !== null && ts.isObjectLiteralExpression(config)) {
      problems.push(...retryProblems(root, config));
    }
    return problems;
  });
}

function retryProblems(root: string, config: ts.ObjectLiteralExpression): Problem[] {
  const named = (name: string): ts.ObjectLiteralElementLike | undefined =>
    config.properties.find(
      (property) => property.name !== undefined && property.name.getText() === name,
    );
  const retryOn = named('retryOn');
  const isSpread = config.properties.some((property) => ts.isSpreadAssignment(property));
  if (retryOn === undefined || isSpread || named('retries') !== undefined) return [];
  return [problemAt(root, retryOn, "'retryOn' should not be used if 'retries' is not set")];
}

/** Whether the promise is used: await, return, then/catch, also in a list of calls. */
function isUsed(node: ts.Expression): boolean {
  const { parent } = node;
  if (ts.isAwaitExpression(parent) || ts.isReturnStatement(parent)) return true;
  if (ts.isArrowFunction(parent)) return parent.body === node;
  if (ts.isYieldExpression(parent)) return true;
  if (ts.isPropertyAccessExpression(parent)) {
    return ['then', 'catch', 'finally'].includes(parent.name.text);
  }
  if (ts.isConditionalExpression(parent) && parent.condition === node) return false;
  if (ts.isPropertyAssignment(parent)) return isUsed(parent.parent);
  const isPassedOn =
    ts.isParenthesizedExpression(parent) ||
    ts.isAsExpression(parent) ||
    ts.isSatisfiesExpression(parent) ||
    ts.isNonNullExpression(parent) ||
    ts.isConditionalExpression(parent) ||
    ts.isArrayLiteralExpression(parent) ||
    ts.isSpreadElement(parent) ||
    ts.isCallExpression(parent) ||
    isChoice(parent);
  return isPassedOn && isUsed(parent);
}

function isChoice(node: ts.Node): node is ts.BinaryExpression {
  const choices = [
    ts.SyntaxKind.AmpersandAmpersandToken,
    ts.SyntaxKind.BarBarToken,
    ts.SyntaxKind.QuestionQuestionToken,
  ];
  return ts.isBinaryExpression(node) && choices.includes(node.operatorToken.kind);
}

export const usesCheckpoints = (calls: readonly HandleCall[]): boolean =>
  calls.some(({ method }) => checkpoint.has(method));
