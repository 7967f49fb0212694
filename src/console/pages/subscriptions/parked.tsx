import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ParkedChange } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { useUrlState } from '../../data/url-state.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Json } from '../../design/code.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { OpenLink } from '../../shell/open-link.tsx';

interface ParkedOfProps {
  readonly name: string;
  /** By a program; otherwise the gateway delivers the changes. */
  readonly isRead: boolean;
}

/** The changes that its reader has set aside, or its target has refused. */
export function Parked({ name, isRead }: ParkedOfProps): JSX.Element {
  const filters = useUrlState();
  const input = { params: { name } };
  const query = useRead('GET /subscriptions/{name}/parked', input, { everyMs: 10_000 });
  const open = filters.sent('id');
  return (
    <LoadedState query={query}>
      {({ data }) => {
        const parked = data.find(({ place }) => place === open);
        return (
          <>
            {data.length === 0 ? (
              <Empty title="Nothing is parked">
                {isRead
                  ? 'A reader parks a change that it cannot process, with the reason, and goes on.'
                  : 'A change that the target refuses again and again is parked, and the others go on.'}
              </Empty>
            ) : (
              <Table
                label="Parked changes"
                columns={columns}
                rows={data}
                keyOf={({ place }) => place}
              />
            )}
            {parked !== undefined && (
              <ParkedDrawer
                name={name}
                isRead={isRead}
                parked={parked}
                onClose={() => filters.set({ id: '' })}
              />
            )}
          </>
        );
      }}
    </LoadedState>
  );
}

const columns: readonly Column<ParkedChange>[] = [
  {
    title: 'Record',
    fit: 'short',
    cell: ({ place, change }) => <OpenLink id={place} text={change?.record_id ?? place} />,
  },
  {
    title: 'Change',
    fit: 'tight',
    narrow: 'top end',
    cell: ({ change }) => (change === null ? '–' : <StateBadge state={change.action} />),
  },
  { title: 'Reason', narrow: 'below', cell: ({ reason }) => <Clip text={reason} /> },
  { title: 'Model', fit: 'short', cell: ({ change }) => <Clip text={change?.model ?? '–'} /> },
  {
    title: 'Connection',
    cell: ({ change }) => (
      <ConnectionLink
        integration={change?.provider_config_key ?? null}
        id={change?.connection_id ?? null}
      />
    ),
  },
  {
    title: 'Parked',
    fit: 'tight',
    narrow: 'below end',
    cell: ({ parked_at: at }) => <Time at={at} />,
  },
];

interface ParkedProps extends ParkedOfProps {
  readonly parked: ParkedChange;
}

function ParkedDrawer(props: ParkedProps & { readonly onClose: () => void }): JSX.Element {
  const { isRead, parked, onClose } = props;
  const { place, reason, change, parked_at: at } = parked;
  return (
    <Drawer title={change?.record_id ?? place} onClose={onClose}>
      <div class="stack">
        <Notice tone="warn">{reason}</Notice>
        <div class="row">
          {!isRead && <Replay {...props} />}
          <Release {...props} />
        </div>
        <KeyValues
          rows={[
            ['Parked', <Time key="parked" at={at} />],
            ['Place on the log', place],
            ['Model', change?.model],
            [
              'Connection',
              change === null ? null : (
                <ConnectionLink
                  key="connection"
                  integration={change.provider_config_key}
                  id={change.connection_id}
                />
              ),
            ],
            ['Changed', change === null ? null : <Time key="at" at={change.at} />],
          ]}
        />
        {change === null ? (
          <Notice tone="info">The log no longer has this change.</Notice>
        ) : (
          <>
            <h3>Change</h3>
            <Json label="Change" value={change} />
          </>
        )}
      </div>
    </Drawer>
  );
}

/** It leaves the list when the target has taken it; otherwise the list shows the new reason. */
function Replay({ name, parked: { place, replaying } }: ParkedProps): JSX.Element {
  const replay = useChange(
    (client) =>
      client.request('POST /subscriptions/{name}/parked/{place}/replay', {
        params: { name, place },
      }),
    { done: 'The change is delivered once more', showsFailure: true },
  );
  return (
    <Button tone="primary" isBusy={replaying || replay.isPending} onPress={() => replay.mutate()}>
      Replay
    </Button>
  );
}

function Release({
  name,
  isRead,
  parked: { place },
  onClose: onReleased,
}: ParkedProps & { readonly onClose: () => void }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const release = useChange(
    (client) =>
      client.request('DELETE /subscriptions/{name}/parked/{place}', { params: { name, place } }),
    { done: 'The change was released', onDone: onReleased, showsFailure: true },
  );
  return (
    <>
      <Button onPress={() => setOpen(true)}>Release…</Button>
      {isOpen && (
        <ConfirmChange
          title="Release the parked change?"
          verb="Release the change"
          isDangerous
          change={release}
          onClose={() => setOpen(false)}
        >
          <p>
            It leaves the list: it was processed, or is given up. The {isRead ? 'reader' : 'target'}{' '}
            gets it again only when the subscription is moved back.
          </p>
        </ConfirmChange>
      )}
    </>
  );
}
