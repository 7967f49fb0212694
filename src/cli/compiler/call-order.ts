import ts from 'typescript';
import { batch, http, type HandleCall } from './handle-calls.ts';
import { problemAt, type Problem } from './problem.ts';

/**
 * Rules for the order of calls in a sync's `exec`, by position in the file (docs/reference/cli.md#compilation):
 * they report what is wrong on every branch, and nothing more.
 */
export function orderProblems(root: string, calls: readonly HandleCall[]): Problem[] {
  const models = new Set(calls.flatMap((call) => modelOf(call) ?? []));
  return [
    ...[...models].flatMap((model) => trackDeletesProblems(root, calls, model)),
    ...[...models].flatMap((model) => previousExecutionsProblems(root, calls, model)),
    ...mergingProblems(root, calls),
  ];
}

/** Index of the model among the arguments. */
const modelArgument: ReadonlyMap<string, number> = new Map([
  ['trackDeletesStart', 0],
  ['trackDeletesEnd', 0],
  ['deleteRecordsFromPreviousExecutions', 0],
  ['batchSave', 1],
  ['batchUpdate', 1],
  ['batchDelete', 1],
  ['batchSend', 1],
]);

/** The model of a call: the text of a literal, otherwise the source of the expression. */
function modelOf({ call, method }: HandleCall): string | null {
  const argument: ts.Expression | undefined = call.arguments[modelArgument.get(method) ?? -1];
  if (argument === undefined) return null;
  return ts.isStringLiteralLike(argument) ? argument.text : argument.getText();
}

const at = ({ call }: HandleCall): number => call.expression.end;

function trackDeletesProblems(
  root: string,
  calls: readonly HandleCall[],
  model: string,
): Problem[] {
  const ofModel = calls.filter((call) => modelOf(call) === model);
  const starts = ofModel.filter(({ method }) => method === 'trackDeletesStart');
  const ends = ofModel.filter(({ method }) => method === 'trackDeletesEnd');
  const problems = [
    ...twice(root, starts, `trackDeletesStart() is called twice for the model '${model}'`),
    ...twice(root, ends, `trackDeletesEnd() is called twice for the model '${model}'`),
  ];
  const [start] = starts;
  const [end] = ends;
  if (start === undefined || end === undefined) {
    const [alone, missing] = start === undefined ? [end, 'Start'] : [start, 'End'];
    if (alone === undefined) return problems;
    const message = `${alone.method}() needs trackDeletes${missing}() for the model '${model}' too`;
    return [...problems, problemAt(root, alone.call, message)];
  }
  if (at(end) < at(start)) {
    const message = `trackDeletesEnd() comes before trackDeletesStart() for the model '${model}'`;
    return [...problems, problemAt(root, end.call, message)];
  }
  for (const one of ofModel.filter(({ method }) => batch.has(method))) {
    const side = at(one) < at(start) ? 'before trackDeletesStart()' : 'after trackDeletesEnd()';
    if (at(one) > at(start) && at(one) < at(end)) continue;
    problems.push(problemAt(root, one.call, `${one.method}() of '${model}' comes ${side}`));
  }
  return problems;
}

function previousExecutionsProblems(
  root: string,
  calls: readonly HandleCall[],
  model: string,
): Problem[] {
  const ofModel = calls.filter((call) => modelOf(call) === model);
  const name = 'deleteRecordsFromPreviousExecutions';
  const deletes = ofModel.filter(({ method }) => method === name);
  const [first] = deletes;
  if (first === undefined) return [];
  const late = ofModel.filter((call) => batch.has(call.method) && at(call) > at(first));
  return [
    ...twice(root, deletes, `${name}() is called twice for the model '${model}'`),
    ...late.map(({ call, method }) =>
      problemAt(root, call, `${method}() of '${model}' comes after ${name}()`),
    ),
  ];
}

function mergingProblems(root: string, calls: readonly HandleCall[]): Problem[] {
  const firstEffect = calls.find(({ method }) => http.has(method) || batch.has(method));
  if (firstEffect === undefined) return [];
  return calls
    .filter((call) => call.method === 'setMergingStrategy' && at(call) > at(firstEffect))
    .map(({ call }) =>
      problemAt(root, call, 'setMergingStrategy() must come before any HTTP or batch call'),
    );
}

const twice = (root: string, calls: readonly HandleCall[], message: string): Problem[] =>
  calls.slice(1).map(({ call }) => problemAt(root, call, message));
