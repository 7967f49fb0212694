import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useChange, useRead } from '../../data/read.ts';
import { useSort } from '../../data/sort.ts';
import { useUrlState } from '../../data/url-state.ts';
import { Button, LinkButton } from '../../design/button.tsx';
import { Empty } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { useAccess } from '../../session/context.tsx';
import type { ListedSession } from '../../session/session.ts';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { holderOf, sessionColumns } from './columns.tsx';

/** Every browser that is signed in to the console. */
export function Sessions(): JSX.Element {
  const { can, path } = useAccess();
  const sort = useSort();
  const filters = useUrlState();
  const person = filters.sent('person');
  const query = useRead('GET /account/sessions', { query: { person_id: person } });
  const actions = {
    title: '',
    fit: 'tight' as const,
    narrow: 'below end' as const,
    cell: (session: ListedSession) => <EndButton session={session} />,
  };
  return (
    <Page
      title="Sessions"
      about="Browsers that are signed in to the console, of people and of keys."
      actions={
        person !== undefined && <LinkButton href={path('/sessions')}>Show all sessions</LinkButton>
      }
    >
      <LoadedState query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No sessions">The person is signed in nowhere.</Empty>
          ) : (
            <Table
              label="Sessions"
              columns={can('account:people:write') ? [...sessionColumns, actions] : sessionColumns}
              rows={data}
              sort={sort}
              keyOf={({ id }) => id}
            />
          )
        }
      </LoadedState>
    </Page>
  );
}

function EndButton({ session }: { readonly session: ListedSession }): JSX.Element | null {
  const { id, is_current: isCurrent, browser } = session;
  const [isOpen, setOpen] = useState(false);
  const holder = holderOf(session);
  const end = useChange(
    (client) => client.request('DELETE /account/sessions/{id}', { params: { id } }),
    { done: 'The session has ended', onDone: () => setOpen(false), showsFailure: true },
  );
  // The column of the browser marks it.
  if (isCurrent) return null;
  return (
    <>
      <Button isSmall title={`End the session of ${holder}`} onPress={() => setOpen(true)}>
        End…
      </Button>
      {isOpen && (
        <ConfirmChange
          title={`End the session of ${holder}?`}
          verb="End the session"
          isDangerous
          change={end}
          onClose={() => setOpen(false)}
        >
          <p>{browser ?? 'The browser'} is signed out at once.</p>
        </ConfirmChange>
      )}
    </>
  );
}
