import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { failureOf } from '../../data/failure.ts';
import { Button } from '../../design/button.tsx';
import { Table } from '../../design/table.tsx';
import { toast } from '../../design/toast.tsx';
import { useSession } from '../../session/context.tsx';
import { endOwnSession, listOwnSessions, type ListedSession } from '../../session/session.ts';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { sessionColumns } from './columns.tsx';

const ownSessions = ['own sessions'] as const;

/** Where the person is signed in, whatever the role. */
export function OwnSessions(): JSX.Element {
  const { person } = useSession();
  const query = useQuery({ queryKey: ownSessions, queryFn: listOwnSessions });
  return (
    <Page
      title="Your sessions"
      about={
        person === null
          ? 'The browser that is signed in with these keys.'
          : `Browsers in which ${person.display_name} (${person.email}) is signed in.`
      }
    >
      <LoadedState query={query}>
        {(data) => (
          <Table
            label="Your sessions"
            columns={[
              ...sessionColumns,
              {
                title: '',
                fit: 'tight',
                narrow: 'below end',
                cell: (session) => <EndButton session={session} />,
              },
            ]}
            rows={data}
            keyOf={({ id }) => id}
          />
        )}
      </LoadedState>
    </Page>
  );
}

function EndButton({ session }: { readonly session: ListedSession }): JSX.Element | null {
  const current = useSession();
  const queries = useQueryClient();
  const end = useMutation({
    mutationFn: () => endOwnSession(current, session.id),
    onSuccess: () => {
      toast('The session has ended');
      return queries.invalidateQueries({ queryKey: ownSessions });
    },
    onError: (error) => toast(failureOf(error).message, 'bad'),
  });
  // The column of the browser marks it.
  if (session.is_current) return null;
  return (
    <Button isSmall isBusy={end.isPending} onPress={() => end.mutate()}>
      End
    </Button>
  );
}
