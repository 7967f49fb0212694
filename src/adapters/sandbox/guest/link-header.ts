const blanks = ' \t';

/**
 * The target of the first link that has the relation, in whatever case (RFC 8288, appendix B). Commas and semicolons
 * inside `<>` and quotes are text; a parameter may have no value; of several `rel` of a link the first counts.
 */
export function linkTarget(header: string, relation: string): string | undefined {
  const wanted = relation.toLowerCase();
  let at = 0;
  const skip = (marks: string) => {
    while (at < header.length && marks.includes(header.charAt(at))) at++;
  };
  const takeUntil = (marks: string): string => {
    const start = at;
    while (at < header.length && !marks.includes(header.charAt(at))) at++;
    return header.slice(start, at);
  };
  const takeQuoted = (): string => {
    let text = '';
    for (at++; at < header.length && header.charAt(at) !== '"'; at++) {
      if (header.charAt(at) === '\\' && at + 1 < header.length) at++;
      text += header.charAt(at);
    }
    at++;
    return text;
  };
  /** Text after a quoted value belongs to no parameter. */
  const takeValue = (): string => {
    if (header.charAt(at) !== '=') return '';
    at++;
    skip(blanks);
    if (header.charAt(at) !== '"') return takeUntil(';,').trim();
    const text = takeQuoted();
    takeUntil(';,');
    return text;
  };
  while (at < header.length) {
    skip(`${blanks},`);
    if (header.charAt(at) !== '<') {
      takeUntil(',');
      continue;
    }
    at++;
    const target = takeUntil('>').trim();
    at++;
    takeUntil(';,');
    let relations: string | undefined;
    while (header.charAt(at) === ';') {
      at++;
      skip(blanks);
      const name = takeUntil('=;,').trim().toLowerCase();
      const value = takeValue();
      if (name === 'rel') relations ??= value;
    }
    if (relations?.toLowerCase().split(/\s+/).includes(wanted)) return target;
  }
  return undefined;
}
