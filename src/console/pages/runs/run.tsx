import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { useRead } from '../../data/read.ts';
import { pathOf, useParts } from '../../data/route.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Json } from '../../design/code.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Notice } from '../../design/states.tsx';
import { duration, Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { Positions } from './positions.tsx';
import { RunActions } from './run-actions.tsx';
import type { RunDetail } from './run-detail.ts';
import { Timeline } from './timeline.tsx';

export function Run(): JSX.Element {
  const { path } = useAccess();
  const [, id = ''] = useParts();
  const query = useRead('GET /runs/{id}', { params: { id } }, { everyMs: 2_000 });
  const run = query.data?.data;
  return (
    <Page
      title={run === undefined ? 'Run' : run.function}
      crumbs={[['Runs', path('/runs')]]}
      actions={run !== undefined && <RunActions run={run} />}
    >
      <LoadedState query={query}>
        {({ data }) => (
          <div class="stack">
            {data.error !== null && (
              <Notice tone="bad">
                <p>{data.error.message}</p>
                <p class="mono">{data.error.code}</p>
              </Notice>
            )}
            <div class="card padded">
              <Facts run={data} />
            </div>
            <h2>Timeline</h2>
            <Timeline run={data} />
            <Positions run={data} />
            {data.checkpoint_to !== null && (
              <>
                <h2>Checkpoint</h2>
                <Json
                  label="Checkpoint"
                  value={{ from: data.checkpoint_from, to: data.checkpoint_to }}
                />
              </>
            )}
          </div>
        )}
      </LoadedState>
    </Page>
  );
}

function Facts({ run }: { readonly run: RunDetail }): JSX.Element {
  const { path } = useAccess();
  const { provider_config_key: integration, connection_id: connection } = run;
  return (
    <KeyValues
      rows={[
        ['State', <StateBadge key="state" state={run.status} />],
        ['Kind', run.kind],
        ['Version', run.function_version],
        [
          'Connection',
          <Link key="connection" href={path(pathOf('connections', integration, connection))}>
            {integration} / {connection}
          </Link>,
        ],
        ['Trigger', run.trigger],
        ['Attempt', run.attempt],
        ['Queued', <Time key="queued" at={run.queued_at} />],
        ['Started', <Time key="started" at={run.started_at} />],
        ['Duration', duration(run.duration_ms)],
        ...Object.entries(run.counts).map(
          ([model, counts]) =>
            [
              model,
              `${counts.added} added, ${counts.updated} updated, ${counts.deleted} deleted, ${counts.unchanged} unchanged`,
            ] as const,
        ),
        [
          'Run id',
          <span key="id" class="row">
            <span class="mono">{run.id}</span>
            <CopyButton text={run.id} label="Copy the run id" />
          </span>,
        ],
        [
          'Log',
          <Link key="log" href={path(pathOf('logs', run.log_id))}>
            Messages of this run
          </Link>,
        ],
      ]}
    />
  );
}
