/** The comments of TypeScript's scanner, so that strings, templates and regular expressions are left out. */
import ts from 'typescript';

export interface Comment {
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

export function commentsOf(file: string, text: string): readonly Comment[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const ranges = new Map<number, ts.CommentRange>();
  const nodes: ts.Node[] = [source];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const leading = ts.getLeadingCommentRanges(text, node.getFullStart());
    const trailing = ts.getTrailingCommentRanges(text, node.getEnd());
    // the text of a template or of JSX is not trivia
    if (!ts.isTemplateMiddleOrTemplateTail(node) && node.kind !== ts.SyntaxKind.JsxText) {
      for (const range of leading ?? []) ranges.set(range.pos, range);
    }
    for (const range of trailing ?? []) ranges.set(range.pos, range);
    nodes.push(...node.getChildren(source));
  }
  return [...ranges.values()]
    .sort((a, b) => a.pos - b.pos)
    .map(({ pos, end }) => ({
      line: source.getLineAndCharacterOfPosition(pos).line + 1,
      text: text.slice(pos, end),
    }));
}

/** The titles of tests and of groups of tests, which are prose too. */
export function titlesOf(file: string, text: string): readonly Comment[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const titles: Comment[] = [];
  const nodes: ts.Node[] = [source];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (ts.isCallExpression(node) && /^(it|test|describe)\b/.test(node.expression.getText())) {
      const title = node.arguments[0];
      if (
        title !== undefined &&
        (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))
      ) {
        const { line } = source.getLineAndCharacterOfPosition(title.getStart());
        const prose = title
          .getText()
          .slice(1, -1)
          .replaceAll(/\$\{[^}]*\}/g, '');
        titles.push({ line: line + 1, text: prose });
      }
    }
    nodes.push(...node.getChildren(source));
  }
  return titles;
}
