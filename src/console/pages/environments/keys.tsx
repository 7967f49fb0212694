import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKey } from '#client/index.ts';
import { dayMs } from '../../data/local-time.ts';
import { useChange, useRead } from '../../data/read.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Menu } from '../../design/menu.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import {
  AccessProvider,
  accountKeyOf,
  useAccess,
  useAccessOf,
  useSession,
} from '../../session/context.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { CreateKey } from './create-key.tsx';
import { scopesText } from './key-scopes.ts';
import { LastUse, RotateKey } from './rotate-key.tsx';

interface KeysProps {
  readonly environmentId: number;
}

/** The keys of the environment of the page, managed by the account's key. */
export function EnvironmentKeys(): JSX.Element {
  const { key } = useAccess();
  const account = useAccessOf(accountKeyOf(useSession()));
  const environmentId = key.environment === null ? undefined : Number(key.environment.id);
  return (
    <Page
      title="API keys"
      about={`Programs use them to reach the environment ${key.environment?.name ?? ''}. Give each program a key of its own, with the scopes it needs.`}
    >
      {account?.can('account:environments:api_keys:list') === true &&
      environmentId !== undefined ? (
        <AccessProvider access={account}>
          <Keys environmentId={environmentId} />
        </AccessProvider>
      ) : (
        <Empty title="A key of the account manages API keys">
          Add one in the environment menu, “Add a key…”. This session has none.
        </Empty>
      )}
    </Page>
  );
}

export function Keys({ environmentId }: KeysProps): JSX.Element {
  const { can } = useAccess();
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const query = useRead(
    'GET /environment/api-keys',
    { query: { environment_id: environmentId } },
    { everyMs: 15_000 },
  );
  return (
    <div class="stack">
      {can('account:environments:api_keys:create') && (
        <div>
          <Button tone="primary" icon="plus" onPress={() => setAdding(true)}>
            Create a key
          </Button>
        </div>
      )}
      <LoadedState query={query}>
        {({ data }) => (
          <>
            <ExpiryNotice keys={data} />
            <Table
              label="Keys"
              columns={columnsOf(environmentId, setSecret)}
              rows={data}
              keyOf={({ id }) => id}
            />
          </>
        )}
      </LoadedState>
      {isAdding && (
        <CreateKey
          environmentId={environmentId}
          onSecret={setSecret}
          onClose={() => setAdding(false)}
        />
      )}
      {secret !== null && <KeySecret secret={secret} onClose={() => setSecret(null)} />}
    </div>
  );
}

const columnsOf = (
  environmentId: number,
  showSecret: (secret: string) => void,
): readonly Column<ApiKey>[] => [
  ...keyColumns,
  {
    title: '',
    fit: 'tight',
    cell: (row) => <KeyMenu environmentId={environmentId} row={row} showSecret={showSecret} />,
  },
];

interface KeyMenuProps extends KeysProps {
  readonly row: ApiKey;
  readonly showSecret: (secret: string) => void;
}

function KeyMenu({ environmentId, row, showSecret }: KeyMenuProps): JSX.Element {
  const { can } = useAccess();
  const [open, setOpen] = useState<'rotation' | 'deletion' | null>(null);
  const { id, display_name: name } = row;
  const close = (): void => setOpen(null);
  const reveal = useChange(
    (client) => client.request('POST /environment/api-keys/{id}/reveal', { params: { id } }),
    { onDone: ({ data }) => showSecret(data.secret) },
  );
  const remove = useChange(
    (client) =>
      client.request('DELETE /environment/api-keys', {
        body: { environment_id: environmentId, key_id: id },
      }),
    { done: `${name} was deleted`, onDone: close, showsFailure: true },
  );
  return (
    <>
      <Menu
        label={`Actions of ${name}`}
        icon="more"
        isIconOnly
        items={[
          {
            id: 'reveal',
            label: 'Reveal (audited)',
            icon: 'eye',
            isDisabled: !can('account:environments:api_keys:reveal'),
            onSelect: () => reveal.mutate(),
          },
          {
            id: 'rotate',
            label: rotationLabel(row),
            icon: 'refresh',
            isDisabled: !can('account:environments:api_keys:rotate'),
            onSelect: () => setOpen('rotation'),
          },
          {
            id: 'delete',
            label: 'Delete…',
            icon: 'trash',
            isDangerous: true,
            isDisabled: !can('account:environments:api_keys:delete'),
            onSelect: () => setOpen('deletion'),
          },
        ]}
      />
      {open === 'rotation' && <RotateKey owner="environment" row={row} onClose={close} />}
      {open === 'deletion' && <DeleteKey row={row} change={remove} onClose={close} />}
    </>
  );
}

export const rotationLabel = ({ previous_secret: previous }: ApiKey): string =>
  previous === null ? 'Rotate…' : 'Go on with the rotation…';

interface DeleteKeyProps {
  readonly row: ApiKey;
  readonly change: {
    readonly isPending: boolean;
    readonly error: Error | null;
    mutate(): void;
  };
  readonly onClose: () => void;
}

export const DeleteKey = ({ row, change, onClose }: DeleteKeyProps): JSX.Element => (
  <ConfirmChange
    title={`Delete the key ${row.display_name}?`}
    verb="Delete the key"
    isDangerous
    change={change}
    onClose={onClose}
  >
    <p>
      {row.last_used_at === null ? (
        'It was never used. '
      ) : (
        <>
          It was last used <LastUse use={row} />.{' '}
        </>
      )}
      Programs that have it are refused at once, and sessions of the console lose it. It cannot be
      restored: to replace it without an interruption, rotate it. What was done with it stays in the
      audit.
    </p>
  </ConfirmChange>
);

const soonMs = 7 * dayMs;
type ExpiryState = 'never' | 'later' | 'soon' | 'over';

function expiryState({ expires_at: at }: Pick<ApiKey, 'expires_at'>): ExpiryState {
  if (at === null) return 'never';
  const left = new Date(at).getTime() - new Date().getTime();
  return left <= 0 ? 'over' : left <= soonMs ? 'soon' : 'later';
}

/** Names the keys that expire within a week. */
export function ExpiryNotice({ keys }: { readonly keys: readonly ApiKey[] }): JSX.Element | null {
  const soon = keys.filter((key) => expiryState(key) === 'soon');
  if (soon.length === 0) return null;
  return (
    <Notice tone="warn">
      {soon.map(({ id, display_name: name, expires_at: at }) => (
        <p key={id}>
          <strong>{name}</strong> expires <Time at={at} />: rotate it with a later expiry, or make
          another key.
        </p>
      ))}
    </Notice>
  );
}

function Expires({ row }: { readonly row: ApiKey }): JSX.Element {
  const state = expiryState(row);
  if (state === 'never') return <span class="muted">no expiry</span>;
  if (state === 'later') return <Time at={row.expires_at} />;
  return (
    <Badge tone={state === 'over' ? 'bad' : 'warn'}>
      {state === 'over' ? 'expired' : <Time at={row.expires_at} />}
    </Badge>
  );
}

function NameAndSecret({ row }: { readonly row: ApiKey }): JSX.Element {
  const { display_name: name, secret, previous_secret: previous } = row;
  return (
    <div class="key-name">
      <Clip text={name} />
      <span class="muted">
        <span class="mono">{secret}</span>
        {previous !== null && (
          <>
            {' '}
            · old <span class="mono">{previous.secret}</span> ends{' '}
            <Time at={previous.valid_until} />
          </>
        )}
      </span>
    </div>
  );
}

/** What is shown of a key of an environment or of the account. */
export const keyColumns: readonly Column<ApiKey>[] = [
  { title: 'Key', cell: (row) => <NameAndSecret row={row} /> },
  {
    title: 'Access',
    narrow: 'below',
    cell: ({ scopes }) => (
      <span class="clip" title={scopes.join(', ')}>
        {scopesText(scopes)}
      </span>
    ),
  },
  {
    title: 'Last used',
    fit: 'tight',
    narrow: 'top end',
    cell: (row) =>
      row.last_used_at === null ? (
        <span class="last-use">
          not used yet
          <span class="muted narrow-only">
            {' '}
            created <Time at={row.created_at} />
          </span>
        </span>
      ) : (
        <LastUse use={row} />
      ),
  },
  {
    title: 'Expires',
    fit: 'tight',
    narrow: 'below end',
    cell: (row) => <Expires row={row} />,
  },
  { title: 'Created', fit: 'tight', cell: ({ created_at: at }) => <Time at={at} /> },
];

interface KeySecretProps {
  readonly secret: string;
  /** Whether the service shows the secret again. */
  readonly isShownOnce?: boolean;
  readonly onClose: () => void;
}

export const KeySecret = ({
  secret,
  isShownOnce = false,
  onClose,
}: KeySecretProps): JSX.Element => (
  <Dialog title="Secret of the key" onClose={onClose}>
    <Notice tone="warn">
      Anyone with this key can act as you. Keep it out of sources and chats.
      {isShownOnce && ' It is not shown again: copy it now.'}
    </Notice>
    <div class="row">
      <code class="grow secret">{secret}</code>
      <CopyButton text={secret} label="Copy the key" />
    </div>
  </Dialog>
);
