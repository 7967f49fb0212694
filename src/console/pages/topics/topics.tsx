import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Topic } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { Table, type Column } from '../../design/table.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

/** The public topics: what they carry, how much, and who lags behind. */
export function Topics(): JSX.Element {
  const { path } = useAccess();
  const query = useRead('GET /topics', {}, { everyMs: 15_000 });
  return (
    <Page
      title="Topics"
      about="The public topics of the service, for data teams: messages, schemas, keys and consumers."
    >
      <LoadedState query={query}>
        {({ data }) => (
          <Table label="Topics" columns={columnsOf(path)} rows={data} keyOf={({ name }) => name} />
        )}
      </LoadedState>
    </Page>
  );
}

const columnsOf = (path: (page: string) => string): readonly Column<Topic>[] => [
  {
    title: 'Topic',
    cell: ({ name }) => (
      <Link href={path(pathOf('topics', name))} class="clip" title={name}>
        {name}
      </Link>
    ),
  },
  {
    title: 'Purpose',
    cell: ({ purpose }) => (
      <span class="clip" title={purpose}>
        {purpose}
      </span>
    ),
  },
  { title: 'Partitions', fit: 'end', cell: ({ partitions }) => partitions },
  {
    title: 'Messages (at most)',
    fit: 'end',
    cell: ({ messages_max: most }) => most.toLocaleString('en'),
  },
  { title: 'Groups', fit: 'end', cell: ({ groups }) => groups.length },
  {
    title: 'Lag',
    fit: 'end',
    cell: ({ groups }) =>
      groups.reduce((largest, { lag }) => Math.max(largest, lag), 0).toLocaleString('en'),
  },
];
