import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Answer, Client } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { useList, useChange } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Json } from '../../design/code.tsx';
import { Diff } from '../../design/diff.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Time, exact } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { ListState } from '../../shell/loaded.tsx';
import { Revert } from '../runs/run-actions.tsx';
import type { ConnectionName } from './use-connection.ts';

type Change = Answer<'GET /records/history'>['changes'][number];

interface RecordDrawerProps {
  readonly name: ConnectionName;
  readonly model: { readonly model: string; readonly variant: string };
  readonly id: string;
  readonly onClose: () => void;
}

/** Every version of one record: who wrote it, what it changed, and how the record was. */
export function RecordDrawer({ name, model, id, onClose }: RecordDrawerProps): JSX.Element {
  const list = useList(
    'GET /records/history',
    {
      headers: { 'provider-config-key': name.integration, 'connection-id': name.connection },
      query: { model: model.model, variant: model.variant, id, limit: 50 },
    },
    ({ changes }) => changes,
  );
  const { can } = useAccess();
  const [at, setAt] = useState(0);
  const version = list.items[at];
  return (
    <Drawer title={id} onClose={onClose}>
      <ListState list={list} empty={<Empty title="No history of this record is kept" />}>
        {list.items.length > 1 && (
          <label class="field">
            <span class="label">As of</span>
            <input
              type="range"
              min={0}
              max={list.items.length - 1}
              value={list.items.length - 1 - at}
              aria-valuetext={version === undefined ? '' : exact(new Date(version.at))}
              onInput={({ currentTarget }) =>
                setAt(list.items.length - 1 - Number(currentTarget.value))
              }
            />
          </label>
        )}
        {version !== undefined && (
          <>
            <div class="row">
              {can('environment:records:write') && version.run_id !== null && (
                <Revert runId={version.run_id} />
              )}
              {can('environment:records:write') && <Prune name={name} model={model} id={id} />}
            </div>
            <Version version={version} before={list.items[at + 1]} />
          </>
        )}
      </ListState>
    </Drawer>
  );
}

interface VersionProps {
  readonly version: Change;
  readonly before: Change | undefined;
}

function Version({ version, before }: VersionProps): JSX.Element {
  const { path } = useAccess();
  return (
    <div class="stack">
      <KeyValues
        rows={[
          ['Action', <StateBadge key="action" state={version.action} />],
          ['At', <Time key="at" at={version.at} />],
          ['Version', version.version],
          ['By', version.actor],
          [
            'Run',
            version.run_id === null ? null : (
              <Link key="run" href={path(pathOf('runs', version.run_id))}>
                {version.sync ?? version.run_id}
              </Link>
            ),
          ],
          ['First seen', <Time key="first" at={version.first_seen_at} />],
        ]}
      />
      {version.payload_state !== 'kept' && (
        <Notice tone="warn">Payload of this version: {version.payload_state}.</Notice>
      )}
      {before !== undefined && (
        <>
          <h3>Changes</h3>
          <Diff before={before.payload} after={version.payload} />
        </>
      )}
      <h3>Payload</h3>
      <Json label="Payload" value={version.payload} />
    </div>
  );
}

interface PruneProps {
  readonly name: ConnectionName;
  readonly model: { readonly model: string; readonly variant: string };
  readonly id: string;
}

/** Empties the payloads of the model up to this record, in the order in which records were modified. */
function Prune({ name, model: { model, variant }, id }: PruneProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const prune = useChange((client) => pruneUntil(client, name, { model, variant }, id), {
    done: (count) => `Pruned ${counted(count, 'record')}`,
    onDone: () => setOpen(false),
    showsFailure: true,
  });
  return (
    <>
      <Button icon="trash" tone="danger" onPress={() => setOpen(true)}>
        Prune up to here…
      </Button>
      {isOpen && (
        <ConfirmChange
          title={`Prune records of ${model}?`}
          verb="Prune the records"
          isDangerous
          change={prune}
          onClose={() => setOpen(false)}
        >
          <p>
            The payload of <b>{id}</b>, and of each record of {model} that was last modified before
            it, is emptied. Ids and times stay; the next change at the provider fills a record
            again.
          </p>
        </ConfirmChange>
      )}
    </>
  );
}

async function pruneUntil(
  client: Client,
  { integration, connection }: ConnectionName,
  ref: PruneProps['model'],
  id: string,
): Promise<number> {
  const headers = { 'provider-config-key': integration, 'connection-id': connection };
  const { records } = await client.request('GET /records', {
    headers,
    query: { ...ref, ids: [id] },
  });
  const cursor = records[0]?._svc_metadata.cursor;
  if (cursor === undefined) throw new Error(`The record ${id} is no longer there.`);
  for (let count = 0; ;) {
    const pruned = await client.request('PATCH /records/prune', {
      headers,
      body: { ...ref, until_cursor: cursor },
    });
    count += pruned.count;
    if (!pruned.has_more) return count;
  }
}
