/** The fields without those that are undefined. */
export function present<T extends object>(
  fields: T,
): { [Field in keyof T]?: Exclude<T[Field], undefined> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as ReturnType<typeof present<T>>;
}
