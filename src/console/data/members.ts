/** The members of a union of the API, in the order of the object. An object without one of them does not compile. */
export const membersOf = <Value extends string>(
  members: Readonly<Record<Value, true>>,
): readonly Value[] => Object.keys(members) as Value[];
