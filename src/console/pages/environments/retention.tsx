import type { JSX } from 'preact';
import type { Environment } from '#client/index.ts';
import { counted } from '../../data/counted.ts';
import { useRead } from '../../data/read.ts';
import { KeyValues } from '../../design/key-values.tsx';
import { Empty } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { LoadedState } from '../../shell/loaded.tsx';

/** What retention would prune and delete now. */
export function Retention({ environment }: { readonly environment: Environment }): JSX.Element {
  const query = useRead('GET /environments/{environmentId}/retention', {
    params: { environmentId: environment.id },
  });
  return (
    <LoadedState query={query}>
      {({ data }) => (
        <div class="stack">
          <div class="card padded">
            <KeyValues
              rows={[
                ['Payloads are pruned', `${data.prune_after_days} days after the last run`],
                ['Records are deleted', `${data.delete_after_days} days after the last run`],
                ['Pruned now', counted(data.prune.records, 'record')],
                ['Deleted now', counted(data.delete.records, 'record')],
              ]}
            />
          </div>
          {data.streams.length === 0 ? (
            <Empty title="Retention has nothing to do" />
          ) : (
            <Table
              label="Streams that retention touches"
              rows={data.streams}
              keyOf={(row) => JSON.stringify(row)}
              columns={[
                { title: 'Action', fit: 'tight', cell: ({ action }) => action },
                {
                  title: 'Connection',
                  cell: ({ provider_config_key: integration, connection_id: id }) => (
                    <span class="clip">
                      {integration} / {id}
                    </span>
                  ),
                },
                { title: 'Model', cell: ({ model }) => model },
                { title: 'Records', fit: 'end', cell: ({ records }) => records },
                {
                  title: 'Last run',
                  fit: 'tight',
                  cell: ({ last_run_at: at }) => <Time at={at} />,
                },
              ]}
            />
          )}
        </div>
      )}
    </LoadedState>
  );
}
