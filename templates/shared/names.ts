/** The parts of a name that the provider keeps in one field: the first word, and the rest. */
export function namePartsOf(name: string | null | undefined): {
  readonly first_name: string | null;
  readonly last_name: string | null;
} {
  const [first = '', ...others] = (name ?? '').trim().split(/\s+/);
  return { first_name: first || null, last_name: others.join(' ') || null };
}
