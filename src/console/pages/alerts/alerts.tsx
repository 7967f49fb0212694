import type { JSX } from 'preact';
import type { Alert } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { Badge } from '../../design/badge.tsx';
import { Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { labelOfAlert } from './alert-kinds.ts';
import { Destinations } from './destinations.tsx';

/** What fails now, and who is notified of it. */
export function Alerts(): JSX.Element {
  const query = useRead('GET /alerts', {}, { everyMs: 10_000 });
  const destinations = useRead('GET /alert-destinations', {});
  const isObserved = destinations.data?.data.some(({ enabled }) => enabled) ?? true;
  return (
    <Page
      title="Alerts"
      about="Failures of this environment that people are notified of, by webhook, Slack or mail."
    >
      <Destinations />
      <h2>State</h2>
      {!isObserved && (
        <Notice tone="warn">
          Nothing is observed, because no destination is enabled: failures of this environment are
          not found.
        </Notice>
      )}
      <LoadedState query={query}>
        {({ data }) => (
          <Table
            label="State of the alerts"
            columns={columnsOf(isObserved)}
            rows={data}
            keyOf={({ alert }) => alert}
          />
        )}
      </LoadedState>
    </Page>
  );
}

/** @param isObserved whether the service looks for failures; otherwise a state is that of the last observation */
const columnsOf = (isObserved: boolean): readonly Column<Alert>[] => [
  { title: 'Alert', cell: ({ alert }) => labelOfAlert(alert) },
  {
    title: 'State',
    fit: 'tight',
    cell: ({ firing: isFiring }) => {
      if (!isObserved) return <Badge>not observed</Badge>;
      return <Badge tone={isFiring ? 'bad' : 'good'}>{isFiring ? 'firing' : 'ok'}</Badge>;
    },
  },
  { title: 'Count', fit: 'end', cell: ({ count }) => count.toLocaleString('en') },
  {
    title: 'Of',
    cell: ({ subjects }) => (
      <span class="clip" title={subjects.join(', ')}>
        {subjects.join(', ') || '–'}
      </span>
    ),
  },
  { title: 'Since', fit: 'tight', cell: ({ since }) => <Time at={since} /> },
  { title: 'Notified', fit: 'tight', cell: ({ notified_at: at }) => <Time at={at} /> },
];
