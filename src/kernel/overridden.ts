/** The object with some of its methods replaced; the others are bound to it. */
export function overridden<T extends object>(target: T, own: Partial<T>): T {
  const made: Record<PropertyKey, unknown> = {};
  for (let at: object | null = target; at !== null && at !== Object.prototype;) {
    for (const name of Reflect.ownKeys(at)) {
      if (name in made || name === 'constructor') continue;
      const value: unknown = Reflect.get(target, name);
      made[name] = typeof value === 'function' ? (value.bind(target) as unknown) : value;
    }
    at = Object.getPrototypeOf(at) as object | null;
  }
  return Object.assign(made, own) as T;
}
