import { GatewayError } from '#kernel/errors.ts';
import { aggregateSuffixes, callerFunctions, callerTableFunctions } from './caller-functions.ts';

/**
 * Checks a parsed query against what callers may write (docs/adr/0046-queries-of-callers.md). The tree is that of the engine's own
 * parser (`EXPLAIN AST`): a node a line, indented by its depth. `checkNames` comes first: a name with a newline would add
 * lines.
 */
export function checkTree(lines: readonly string[]): void {
  const parents: Node[] = [];
  for (const line of lines) {
    const node = nodeOf(line);
    if (node === null || node.depth > parents.length)
      throw refused(`it contains ${shortened(line)}`);
    parents.length = Math.min(parents.length, node.depth);
    checkNode(node, parents);
    const parent = parents.at(-1);
    if (parent !== undefined) parent.children++;
    parents.push(node);
  }
}

/** Strings, and names in quotes, as the engine writes them. */
const quoted = /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/gs;

/** @param formatted the query as the engine writes it: names that need quotes are in backquotes */
export function checkNames(formatted: string): void {
  const names = formatted.match(quoted)?.filter((one) => one.startsWith('`')) ?? [];
  if (!names.some((name) => name.includes('\\'))) return;
  throw refused('a name contains an escaped character', 'Use names of letters, digits and "_".');
}

interface Node {
  readonly depth: number;
  readonly kind: string;
  readonly name: string;
  children: number;
}

/** Kinds of nodes without a name that changes what is read. */
const plainKinds = new Set([
  'ArrayJoin',
  'Asterisk',
  'ColumnsExceptTransformer',
  'ColumnsListMatcher',
  'ColumnsRegexpMatcher',
  'ColumnsReplaceTransformer',
  'ColumnsReplaceTransformer::Replacement',
  'ColumnsTransformerList',
  'ExpressionList',
  'InterpolateElement',
  'Literal',
  'OrderByElement',
  'QualifiedAsterisk',
  'QualifiedColumnsListMatcher',
  'QualifiedColumnsRegexpMatcher',
  'SampleRatio',
  'SelectIntersectExceptQuery',
  'SelectQuery',
  'SelectWithUnionQuery',
  'Subquery',
  'TableExpression',
  'TableJoin',
  'TablesInSelectQuery',
  'TablesInSelectQueryElement',
  'WindowDefinition',
  'WindowListElement',
  'WithElement',
]);

/** Their right side is a table where it is a name. */
const inFunctions = new Set(['in', 'notin', 'nullin', 'notnullin']);

function nodeOf(line: string): Node | null {
  const [, indent = '', kind = '', name = ''] = /^( *)([A-Za-z:]+)(?: (.*))?$/s.exec(line) ?? [];
  if (kind === '') return null;
  return { depth: indent.length, kind, name: withoutSuffixes(name), children: 0 };
}

const withoutSuffixes = (name: string): string =>
  name.replace(/ ?\(children \d+\)$/, '').replace(/ ?\(alias .*\)$/s, '');

function checkNode({ kind, name }: Node, parents: readonly Node[]): void {
  if (plainKinds.has(kind)) return;
  const parent = parents.at(-1);
  switch (kind) {
    case 'Identifier': {
      const call = parents.at(-2);
      const isRightSide = parent?.kind === 'ExpressionList' && parent.children > 0;
      const isIn = call?.kind === 'Function' && inFunctions.has(call.name.toLowerCase());
      if (isIn && isRightSide) throw refused('the right side of IN is a name', inFix);
      return;
    }
    case 'TableIdentifier':
      if (name.includes('.')) throw refused(`it names a database: ${shortened(name)}`, viewFix);
      return;
    case 'Function':
      if (parent?.kind === 'TableExpression') checkTableFunction(name);
      else checkFunction(name);
      return;
    case 'Set':
      throw refused('it has SETTINGS', 'Leave SETTINGS out; send max_rows and timeout_s instead.');
    default:
      throw refused(`it contains ${shortened(kind)}`);
  }
}

const inFix = 'Write the list, or (SELECT …), on the right side of IN; for an array use has().';
const viewFix = 'Name the view alone, such as v_records.';

function checkTableFunction(name: string): void {
  if (callerTableFunctions.has(name.toLowerCase())) return;
  throw refused(`it reads ${shortened(name)}()`, 'Read the views that docs/sql.md lists.');
}

function checkFunction(name: string): void {
  if (isAllowed(name.toLowerCase())) return;
  throw refused(
    `it calls ${shortened(name)}()`,
    'Use functions that compute from their arguments.',
  );
}

/** `uniqIfMerge` is `uniq` with two suffixes. */
function isAllowed(name: string): boolean {
  if (callerFunctions.has(name)) return true;
  return aggregateSuffixes.some(
    (suffix) => name.endsWith(suffix) && isAllowed(name.slice(0, -suffix.length)),
  );
}

const shownCharsMax = 60;
const shortened = (name: string): string => name.trim().slice(0, shownCharsMax);

/** `reason` completes the sentence. */
export function refused(reason: string, fix?: string): GatewayError {
  return new GatewayError('sql_refused', {
    message: `The query may not run: ${reason}.`,
    ...(fix === undefined ? {} : { fix }),
  });
}
