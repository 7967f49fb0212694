import { Badge } from '../../design/badge.tsx';
import { Clip } from '../../design/clip.tsx';
import type { Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import type { ListedSession } from '../../session/session.ts';

/** Who is signed in: the person, or the keys. */
export const holderOf = ({ person, keys }: ListedSession): string =>
  person === null ? keys.join(', ') : person.display_name;

export const sessionColumns: readonly Column<ListedSession>[] = [
  {
    title: 'Who',
    sortBy: holderOf,
    cell: (session) => <Clip text={holderOf(session)} />,
  },
  {
    title: 'Browser',
    narrow: 'below',
    cell: ({ browser, is_current: isCurrent }) => (
      <span class="row">
        {browser ?? 'unknown'}
        {isCurrent && <Badge tone="good">this one</Badge>}
      </span>
    ),
  },
  { title: 'From', fit: 'tight', cell: ({ ip_prefix: prefix }) => prefix ?? '–' },
  {
    title: 'Signed in',
    fit: 'tight',
    sortBy: ({ created_at: at }) => at,
    cell: ({ created_at: at }) => <Time at={at} />,
  },
  {
    title: 'Last used',
    fit: 'tight',
    narrow: 'top end',
    sortBy: ({ last_used_at: at }) => at,
    cell: ({ last_used_at: at }) => <Time at={at} />,
  },
];
