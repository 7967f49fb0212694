/**
 * Puts the value at a dotted path, making the objects on the way. A name with `@` or a dot before it is one name:
 * `@odata.nextLink`, `.tag`.
 */
export function withPath(target: Record<string, unknown>, path: string, value: unknown): void {
  const [head = '', ...rest] = /^[@.]/.test(path) ? [path] : path.split('.');
  if (rest.length === 0) {
    const there = target[head];
    const isMerged = typeof there === 'object' && typeof value === 'object';
    target[head] = isMerged ? { ...there, ...value } : value;
    return;
  }
  const inner = (target[head] ??= {}) as Record<string, unknown>;
  withPath(inner, rest.join('.'), value);
}
