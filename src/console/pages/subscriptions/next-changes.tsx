import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer, Change } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { useChange, useRead } from '../../data/read.ts';
import { useUrlState } from '../../data/url-state.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Empty } from '../../design/states.tsx';
import type { Column } from '../../design/table.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { ChangesTable } from '../changes/changes-table.tsx';

const pageSize = 50;

interface NextChangesProps {
  readonly name: string;
  /** By a program; otherwise the gateway delivers the changes and commits. */
  readonly isRead: boolean;
}

/** What its reader or target gets next. Reading it here commits nothing. */
export function NextChanges({ name, isRead }: NextChangesProps): JSX.Element {
  const filters = useUrlState();
  const [parking, setParking] = useState<Change | null>(null);
  const input = { params: { name }, query: { limit: pageSize } };
  const query = useRead('GET /subscriptions/{name}/changes', input, { everyMs: 10_000 });
  return (
    <LoadedState query={query}>
      {(page) => (
        <>
          {page.changes.length === 0 ? (
            <Empty title="Nothing to read">
              {isRead
                ? 'Its reader has every change. New ones appear here until they are committed.'
                : 'Its target has every change. New ones appear here until they are delivered.'}
            </Empty>
          ) : (
            <>
              <div class="row">
                <span class="muted grow">
                  {page.has_more ? 'The first ' : ''}
                  {counted(page.changes.length, 'change')} that the {isRead ? 'reader' : 'target'}{' '}
                  gets next. Looking at them commits nothing.
                </span>
                {isRead && <Commit name={name} page={page} />}
              </div>
              <ChangesTable
                label="Next changes"
                changes={page.changes}
                filters={filters}
                {...(isRead ? { action: parkColumn(setParking) } : {})}
              />
            </>
          )}
          {parking !== null && (
            <Park name={name} change={parking} onClose={() => setParking(null)} />
          )}
        </>
      )}
    </LoadedState>
  );
}

const parkColumn = (park: (change: Change) => void): Column<Change> => ({
  title: '',
  fit: 'tight',
  cell: (change) => (
    <Button
      tone="quiet"
      isSmall
      title={`Park the change of ${change.record_id}`}
      onPress={() => park(change)}
    >
      Park…
    </Button>
  ),
});

interface CommitProps {
  readonly name: string;
  readonly page: Answer<'GET /subscriptions/{name}/changes'>;
}

function Commit({ name, page }: CommitProps): JSX.Element {
  /** The page that was shown when the question was asked. */
  const [asked, setAsked] = useState<CommitProps['page'] | null>(null);
  const commit = useChange(
    (client) =>
      client.request('POST /subscriptions/{name}/commit', {
        params: { name },
        body: { cursor: asked?.cursor ?? page.cursor },
      }),
    { done: 'The changes were committed', onDone: () => setAsked(null), showsFailure: true },
  );
  return (
    <>
      <Button onPress={() => setAsked(page)}>Commit these…</Button>
      {asked !== null && (
        <ConfirmChange
          title={`Commit ${counted(asked.changes.length, 'change')} of ${name}?`}
          verb="Commit the changes"
          isDangerous
          change={commit}
          onClose={() => setAsked(null)}
        >
          <p>
            They count as processed: the reader goes on behind them. Move the subscription back to
            read them again.
          </p>
        </ConfirmChange>
      )}
    </>
  );
}

interface ParkProps {
  readonly name: string;
  readonly change: Change;
  readonly onClose: () => void;
}

function Park({ name, change: { place, record_id: id }, onClose }: ParkProps): JSX.Element {
  const [reason, setReason] = useState('');
  const park = useChange(
    (client) =>
      client.request('POST /subscriptions/{name}/parked', {
        params: { name },
        body: { place, reason },
      }),
    { done: 'The change was parked', onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title={`Park the change of ${id}`} onClose={onClose}>
      <ChangeForm change={park} verb="Park the change">
        <p>
          It is put on the list of parked changes, to be processed later. The position stays: commit
          it to go on behind the change.
        </p>
        <TextField
          label="Reason"
          hint="Why it cannot be processed, without secrets"
          value={reason}
          isRequired
          onInput={setReason}
        />
      </ChangeForm>
    </Dialog>
  );
}
