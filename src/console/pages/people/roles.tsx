import type { JSX } from 'preact';
import type { Person } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { Clip } from '../../design/clip.tsx';
import { Select } from '../../design/field.tsx';

type PersonRole = Person['roles'][number];

/** A role that an owner gives. */
export interface RoleGrant {
  readonly environment: string;
  readonly role: PersonRole['role'];
}

const labels: Readonly<Record<PersonRole['role'], string>> = {
  owner: 'owner',
  developer: 'developer',
  support: 'support',
  read_only: 'read-only',
};

const about: Readonly<Record<PersonRole['role'], string>> = {
  owner: 'Owner: everything',
  developer: 'Developer: deploys and changes, sees no secrets',
  support: 'Support: reads, starts syncs, changes no setting',
  read_only: 'Read-only: reads without secrets',
};

const none = { value: '', label: 'No role' };
const choices = [
  none,
  ...(['owner', 'developer', 'support', 'read_only'] as const).map((role) => ({
    value: role,
    label: about[role],
  })),
];

/** The roles of a person; those from groups say so. */
export const RoleList = ({ roles }: { readonly roles: readonly PersonRole[] }): JSX.Element => (
  <Clip
    text={
      roles
        .map(
          ({ environment, role, from }) =>
            `${environment}: ${labels[role]}${from === 'groups' ? ' (group)' : ''}`,
        )
        .join(', ') || 'none'
    }
  />
);

interface RoleFieldsProps {
  readonly roles: readonly RoleGrant[];
  readonly onChange: (roles: readonly RoleGrant[]) => void;
}

/** One role for the account and for each environment. */
export function RoleFields({ roles, onChange }: RoleFieldsProps): JSX.Element {
  const { data } = useRead('GET /environments', {});
  const places = ['account', ...(data?.data ?? []).map(({ name }) => name)];
  const roleAt = (place: string): string =>
    roles.find(({ environment }) => environment === place)?.role ?? '';
  const set = (place: string, value: string): void => {
    const others = roles.filter(({ environment }) => environment !== place);
    const role = choices.find((choice) => choice.value === value && choice !== none)?.value;
    onChange(isRole(role) ? [...others, { environment: place, role }] : others);
  };
  return (
    <>
      {places.map((place) => (
        <Select
          key={place}
          label={place === 'account' ? 'Account and all environments' : `Environment ${place}`}
          value={roleAt(place)}
          choices={choices}
          onChange={(value) => set(place, value)}
        />
      ))}
    </>
  );
}

const isRole = (text: string | undefined): text is PersonRole['role'] =>
  text !== undefined && text in labels;
