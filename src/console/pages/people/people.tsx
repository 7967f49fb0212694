import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Person } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { useSort } from '../../data/sort.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { PersonMenu, type Invitation } from './person-menu.tsx';
import { RoleList, RoleFields, type RoleGrant } from './roles.tsx';

/** Who signs in to the console, with which roles. */
export function People(): JSX.Element {
  const { can } = useAccess();
  const [isInviting, setInviting] = useState(false);
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  const sort = useSort();
  const query = useRead('GET /people', {});
  const canChange = can('account:people:write');
  return (
    <Page
      title="People"
      about="Who signs in to the console, with which role in each environment. Keys are for programs."
      actions={
        canChange && (
          <Button tone="primary" icon="plus" onPress={() => setInviting(true)}>
            Invite a person
          </Button>
        )
      }
    >
      <LoadedState query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No people yet">
              Invite the first: yourself, as owner of the account.
            </Empty>
          ) : (
            <Table
              label="People"
              columns={columnsOf(canChange, setInvitation)}
              rows={data}
              sort={sort}
              keyOf={({ id }) => id}
            />
          )
        }
      </LoadedState>
      {isInviting && (
        <InviteForm
          onClose={() => setInviting(false)}
          onInvited={(made) => {
            setInviting(false);
            setInvitation(made);
          }}
        />
      )}
      {invitation !== null && (
        <LinkDialog invitation={invitation} onClose={() => setInvitation(null)} />
      )}
    </Page>
  );
}

const columnsOf = (
  canChange: boolean,
  onLink: (invitation: Invitation) => void,
): readonly Column<Person>[] => [
  {
    title: 'Name',
    sortBy: ({ display_name: name }) => name,
    cell: ({ display_name: name }) => <Clip text={name} />,
  },
  {
    title: 'E-mail',
    narrow: 'below',
    sortBy: ({ email }) => email,
    cell: ({ email }) => <Clip text={email} />,
  },
  { title: 'Roles', cell: ({ roles }) => <RoleList roles={roles} /> },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    cell: (person) => <StateBadge state={stateOf(person)} />,
  },
  {
    title: 'Last sign-in',
    fit: 'tight',
    sortBy: ({ last_sign_in_at: at }) => at,
    cell: ({ last_sign_in_at: at }) => <Time at={at} />,
  },
  ...(canChange
    ? [
        {
          title: '',
          fit: 'tight' as const,
          narrow: 'below end' as const,
          cell: (person: Person) => <PersonMenu person={person} onLink={onLink} />,
        },
      ]
    : []),
];

const stateOf = ({ is_active: isActive, last_sign_in_at: signedIn }: Person): string => {
  if (!isActive) return 'deactivated';
  return signedIn === null ? 'invited' : 'active';
};

interface InviteFormProps {
  readonly onInvited: (invitation: Invitation) => void;
  readonly onClose: () => void;
}

function InviteForm({ onInvited, onClose }: InviteFormProps): JSX.Element {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [roles, setRoles] = useState<readonly RoleGrant[]>([]);
  const invite = useChange(
    (client) =>
      client.request('POST /people', {
        body: { email: email.trim(), display_name: name, roles: [...roles] },
      }),
    { onDone: ({ data }) => onInvited(data), showsFailure: true },
  );
  return (
    <Dialog title="Invite a person" onClose={onClose}>
      <ChangeForm change={invite} verb="Make the invitation">
        <TextField label="Name" value={name} isRequired onInput={setName} />
        <TextField label="E-mail address" value={email} isRequired onInput={setEmail} />
        <RoleFields roles={roles} onChange={setRoles} />
        {roles.length === 0 && <p class="muted">Choose at least one role.</p>}
      </ChangeForm>
    </Dialog>
  );
}

interface LinkDialogProps {
  readonly invitation: Invitation;
  readonly onClose: () => void;
}

/** The link to be handed over: it is not shown again. */
function LinkDialog({ invitation, onClose }: LinkDialogProps): JSX.Element {
  const { person, link, is_mailed: isMailed } = invitation;
  return (
    <Dialog title={`Link of ${person.display_name}`} onClose={onClose}>
      <Notice tone="warn">
        The link signs in as {person.display_name}, once. It expires <Time at={link.expires_at} />.
        Give it to nobody else: it is not shown again.
        {isMailed && ` It was also sent to ${person.email}.`}
      </Notice>
      <div class="row">
        <code class="grow secret">{link.url}</code>
        <CopyButton text={link.url} label="Copy the link" />
      </div>
    </Dialog>
  );
}
