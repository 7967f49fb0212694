import type { ComponentChildren, JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Statistics } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { useUrlState } from '../../data/url-state.ts';
import { Button } from '../../design/button.tsx';
import {
  AccessProvider,
  accountKeyOf,
  useAccess,
  useAccessOf,
  useSession,
} from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { Failures } from './failures.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Volumes } from './volumes.tsx';

const ranges = ['1h', '24h', '7d'] as const;
type Range = (typeof ranges)[number];

/** How the environment does: what fails, what a newcomer does next, and how much happened in a time. */
export function Home(): JSX.Element {
  const { can, key } = useAccess();
  const filters = useUrlState();
  const range = ranges.find((one) => one === filters.get('range')) ?? '24h';
  return (
    <Page title={key.environment?.name ?? 'Home'}>
      <FirstSteps />
      <Failures />
      {can('environment:logs:read') ? (
        <Activity range={range} onRange={(one) => filters.set({ range: one })} />
      ) : (
        <ProjectionTile />
      )}
    </Page>
  );
}

interface TileProps {
  readonly href: string;
  readonly label: string;
  readonly children: ComponentChildren;
}

const Tile = ({ href, label, children }: TileProps): JSX.Element => (
  <Link href={href} class="card tile">
    <span class="muted">{label}</span>
    <span class="value number">{children}</span>
  </Link>
);

interface ActivityProps {
  readonly range: Range;
  readonly onRange: (range: Range) => void;
}

/** Refreshed twice a minute. */
function Activity({ range, onRange }: ActivityProps): JSX.Element {
  const query = useRead('GET /statistics', { query: { range } }, { everyMs: 30_000 });
  return (
    <>
      <LoadedState query={query}>{({ data }) => <Connections statistics={data} />}</LoadedState>
      <div class="row spread">
        <h2>Activity</h2>
        <div class="row" role="group" aria-label="Range">
          {ranges.map((one) => (
            <Button
              key={one}
              isSmall
              tone={one === range ? 'primary' : 'plain'}
              onPress={() => onRange(one)}
            >
              {one}
            </Button>
          ))}
        </div>
      </div>
      <LoadedState query={query}>{({ data }) => <Volumes statistics={data} />}</LoadedState>
    </>
  );
}

/** Connections by their state. */
function Connections({ statistics }: { readonly statistics: Statistics }): JSX.Element {
  const { path } = useAccess();
  const { connections, failing_connections: failing } = statistics.totals;
  return (
    <div class="tiles">
      <Tile href={path('/connections')} label="Connections">
        {connections.toLocaleString('en')}
      </Tile>
      <Tile href={path('/connections?errors=none')} label="Without an error">
        {(connections - failing).toLocaleString('en')}
      </Tile>
      <Tile href={path('/connections?errors=any')} label="Failing">
        {failing.toLocaleString('en')}
      </Tile>
      <ProjectionTile />
    </div>
  );
}

function ProjectionTile(): JSX.Element | null {
  const session = useSession();
  const access = useAccessOf(accountKeyOf(session));
  if (access?.can('account:projections:read') !== true) return null;
  return (
    <AccessProvider access={access}>
      <ProjectionLag />
    </AccessProvider>
  );
}

function ProjectionLag(): JSX.Element {
  const { path } = useAccess();
  const { data } = useRead('GET /projections', {}, { everyMs: 10_000 });
  const worst = data?.data.reduce((most, { lag }) => Math.max(most, lag), 0);
  return (
    <Tile href={path('/projections')} label="Projection lag (events)">
      {worst?.toLocaleString('en') ?? '…'}
    </Tile>
  );
}
