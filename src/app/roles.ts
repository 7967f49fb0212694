/** The tasks of a process (docs/architecture.md#several-processes). One image; `all` is every role in one process. */
export const roles = ['api', 'owner', 'projector', 'runner', 'webhooks'] as const;
export type Role = (typeof roles)[number];

/** @throws Error that names the unknown word */
export function parseRoles(value: string): ReadonlySet<Role> {
  const words = value.split(',').map((word) => word.trim());
  if (words.includes('all')) return new Set(roles);
  return new Set(
    words.map((word) => {
      const role = roles.find((candidate) => candidate === word);
      if (role === undefined) throw new Error(`expected all or ${roles.join(', ')}, got "${word}"`);
      return role;
    }),
  );
}
