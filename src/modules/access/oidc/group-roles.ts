import { z } from 'zod';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import { listEnvironments } from '../environments/queries.ts';
import { roleNames, type Grant } from '../people/roles.ts';

const shape = z.record(z.string().min(1), z.record(z.string().min(1), z.enum(roleNames)));

/** The roles of each group, by the name of the environment or `account`. */
export type GroupRoles = z.output<typeof shape>;

const form =
  'expected JSON such as {"engineering":{"dev":"developer","prod":"support"},"ops":{"account":"owner"}}';

/** @throws Error that names what is wrong */
export function parseGroupRoles(text: string): GroupRoles {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(form);
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
  throw new Error(`${form}; roles are ${roleNames.join(', ')}${where}`);
}

/** The grants of groups. Environments that do not exist are left out. */
export function grantsOfGroups(
  { control }: { readonly control: ControlPlane },
  roles: GroupRoles,
  groups: readonly string[],
): readonly Grant[] {
  const uids = new Map(listEnvironments(control).map(({ name, uid }) => [name, uid]));
  const grants = groups
    .filter((group) => Object.hasOwn(roles, group))
    .flatMap((group) => Object.entries(roles[group] ?? {}))
    .flatMap(([place, role]): Grant[] => {
      if (place === 'account') return [{ environmentUid: null, role }];
      const environmentUid = uids.get(place);
      return environmentUid === undefined ? [] : [{ environmentUid, role }];
    });
  const distinct = new Map(grants.map((grant) => [`${grant.environmentUid} ${grant.role}`, grant]));
  return [...distinct.values()];
}
