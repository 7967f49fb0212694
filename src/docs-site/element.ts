/** @throws Error when the page has no such element: its layout is `bin/docs-site/layout.ts` */
export function elementOf<E extends Element>(
  root: ParentNode,
  selector: string,
  type: new () => E,
): E {
  const found = root.querySelector(selector);
  if (found instanceof type) return found;
  throw new Error(`The page has no ${selector}.`);
}
