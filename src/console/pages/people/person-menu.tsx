import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Answer, Person } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { useChange } from '../../data/read.ts';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { useAccess, useSession } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { RoleFields, type RoleGrant } from './roles.tsx';

export type Invitation = Answer<'POST /people'>['data'];

interface PersonProps {
  readonly person: Person;
}

type PersonDialog = 'roles' | 'deactivate' | 'sign out';

interface MenuProps extends PersonProps {
  readonly onLink: (invitation: Invitation) => void;
}

export function PersonMenu({ person, onLink }: MenuProps): JSX.Element {
  const [opened, setOpened] = useState<PersonDialog | null>(null);
  const close = (): void => setOpened(null);
  const items = useItems({ person, onLink }, setOpened);
  return (
    <>
      <Menu label={`Actions of ${person.display_name}`} icon="more" isIconOnly items={items} />
      {opened === 'roles' && <RolesForm person={person} onClose={close} />}
      {opened === 'deactivate' && <Deactivation person={person} onClose={close} />}
      {opened === 'sign out' && <SignOutEverywhere person={person} onClose={close} />}
    </>
  );
}

function useItems(
  { person, onLink }: MenuProps,
  open: (dialog: PersonDialog) => void,
): readonly MenuItem[] {
  const { path } = useAccess();
  const session = useSession();
  const [, navigate] = useLocation();
  const { id, display_name: name, is_active: isActive } = person;
  const link = useChange(
    (client) => client.request('POST /people/{id}/sign-in-links', { params: { id } }),
    { onDone: ({ data }) => onLink(data) },
  );
  const activate = useChange(
    (client) => client.request('PATCH /people/{id}', { params: { id }, body: { is_active: true } }),
    { done: `${name} may sign in again` },
  );
  const always: readonly MenuItem[] = [
    {
      id: 'roles',
      label: 'Change roles…',
      icon: 'shield',
      onSelect: () => open('roles'),
    },
    {
      id: 'link',
      label: 'Make a sign-in link',
      icon: 'link',
      isDisabled: !isActive,
      onSelect: () => link.mutate(),
    },
    {
      id: 'sessions',
      label: 'Show sessions',
      icon: 'list',
      onSelect: () => navigate(path(`/sessions?person=${id}`)),
    },
    {
      id: 'sign-out',
      label: 'Sign out everywhere…',
      icon: 'lock',
      onSelect: () => open('sign out'),
    },
  ];
  const deactivation: MenuItem = {
    id: 'deactivate',
    label: 'Deactivate…',
    icon: 'close',
    isDangerous: true,
    isDisabled: session.person?.id === id,
    onSelect: () => open('deactivate'),
  };
  const activation: MenuItem = {
    id: 'activate',
    label: 'Let sign in again',
    icon: 'check',
    onSelect: () => activate.mutate(),
  };
  return [...always, isActive ? deactivation : activation];
}

interface DialogProps extends PersonProps {
  readonly onClose: () => void;
}

function Deactivation({ person, onClose }: DialogProps): JSX.Element {
  const { id, display_name: name } = person;
  const deactivate = useChange(
    (client) =>
      client.request('PATCH /people/{id}', { params: { id }, body: { is_active: false } }),
    { done: `${name} may not sign in any more`, onDone: onClose, showsFailure: true },
  );
  return (
    <ConfirmChange
      title={`Deactivate ${name}?`}
      verb="Deactivate the person"
      isDangerous
      change={deactivate}
      onClose={onClose}
    >
      <p>Their sessions and links end at once. Their name stays in the audit.</p>
    </ConfirmChange>
  );
}

function SignOutEverywhere({ person, onClose }: DialogProps): JSX.Element {
  const { id, display_name: name } = person;
  const end = useChange(
    (client) => client.request('DELETE /people/{id}/sessions', { params: { id } }),
    {
      done: ({ data }) => `${counted(data.ended, 'session')} of ${name} ended`,
      onDone: onClose,
      showsFailure: true,
    },
  );
  return (
    <ConfirmChange
      title={`Sign ${name} out everywhere?`}
      verb="Sign out everywhere"
      change={end}
      onClose={onClose}
    >
      <p>Every browser of the person is signed out. They may sign in again.</p>
    </ConfirmChange>
  );
}

function RolesForm({ person, onClose }: DialogProps): JSX.Element {
  const { id, display_name: name, roles: current } = person;
  const given = current.filter(({ from }) => from === 'owner');
  const [roles, setRoles] = useState<readonly RoleGrant[]>(
    given.map(({ environment, role }) => ({ environment, role })),
  );
  const save = useChange(
    (client) =>
      client.request('PATCH /people/{id}', { params: { id }, body: { roles: [...roles] } }),
    { done: `The roles of ${name} were changed`, onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title={`Roles of ${name}`} onClose={onClose}>
      <ChangeForm change={save} verb="Change the roles">
        <RoleFields roles={roles} onChange={setRoles} />
        {given.length < current.length && (
          <p class="muted">Roles from groups change at the next sign-in of the person.</p>
        )}
      </ChangeForm>
    </Dialog>
  );
}
