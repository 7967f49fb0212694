import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { TextField } from '../../design/field.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { LoadedState } from '../../shell/loaded.tsx';

interface ConcurrencyProps {
  readonly integration: string;
  readonly shown: Answer<'GET /integrations/{uniqueKey}/functions'>['data'][number];
}

/** How many runs of a function a connection has at the same time, and how many wait for it. */
export function Concurrency({ integration, shown }: ConcurrencyProps): JSX.Element {
  const { can } = useAccess();
  const { name, type, concurrency } = shown;
  const [text, setText] = useState(concurrency === null ? '' : String(concurrency));
  const save = useChange(
    (client) =>
      client.request('PUT /integrations/{uniqueKey}/functions/{name}/concurrency', {
        params: { uniqueKey: integration, name },
        query: { type },
        body: { concurrency: text === '' ? null : Number(text) },
      }),
    { done: 'The runs at the same time were set', showsFailure: true },
  );
  const maySee = can('environment:logs:read') && can('environment:connections:list');
  return (
    <div class="stack">
      <span>
        {concurrency === null ? 'No limit of its own' : `${concurrency} on each connection`}
      </span>
      {maySee && concurrency !== null && <Waiting integration={integration} shown={shown} />}
      {can('environment:deploy') && (
        <ChangeForm change={save} verb="Set the runs at the same time">
          <TextField
            label="Runs at the same time"
            type="number"
            hint="On each connection; empty: no limit of its own."
            value={text}
            onInput={setText}
          />
        </ChangeForm>
      )}
    </div>
  );
}

/** When joined webhooks start a run, and what it gets. */
export const debounceText = ({
  seconds,
  max_wait_seconds: longest,
  payload,
}: NonNullable<ConcurrencyProps['shown']['debounce']>): string =>
  `A run starts ${seconds} s after the last one, at most ${longest} s after the first, with ${payload === 'all' ? 'all of them' : 'the newest'}`;

function Waiting({ integration, shown }: ConcurrencyProps): JSX.Element {
  const query = useRead('GET /integrations/{uniqueKey}/functions/{name}/queue', {
    params: { uniqueKey: integration, name: shown.name },
    query: { type: shown.type },
  });
  return (
    <LoadedState query={query}>
      {({ data }) => (
        <span class="muted">
          {data.waiting === 0
            ? 'No run waits.'
            : `${data.waiting} wait, ${data.connections[0]?.waiting ?? 0} of them on ${data.connections[0]?.connection_id ?? ''}.`}
        </span>
      )}
    </LoadedState>
  );
}
