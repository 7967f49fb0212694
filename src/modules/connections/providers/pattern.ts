/**
 * A pattern of a provider definition. Those of the catalog take linear time (its test checks them); those of an
 * overlay are the operator's.
 * @throws SyntaxError
 */
// oxlint-disable-next-line svc/literal-pattern -- the definition is data
export const patternOf = (source: string): RegExp => new RegExp(source);
