type Child = Node | string | null;

type AttributeValue = string | number | boolean | null;
type Listeners = Readonly<Record<string, (event: Event) => void>>;

interface Attributes {
  /** Listeners by event name. */
  readonly on?: Listeners;
  /** Anything else is an attribute; false and null leave it out, true sets it empty. */
  readonly [name: string]: AttributeValue | Listeners | undefined;
}

/** An element with its attributes, listeners and children; text is never parsed as HTML. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  { on = {}, ...attributes }: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    setAttribute(element, attribute, value as AttributeValue);
  }
  for (const [type, listener] of Object.entries(on)) element.addEventListener(type, listener);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Sets, empties or removes an attribute as `h` does. */
export function setAttribute(element: Element, name: string, value: AttributeValue): void {
  if (value === false || value === null) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? '' : String(value));
}
