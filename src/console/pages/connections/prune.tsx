import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Client } from '#client/index.ts';
import { counted } from '../../data/counted.ts';
import { useChange } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import type { ConnectionName } from './connection-name.ts';

interface PruneProps {
  readonly name: ConnectionName;
  readonly model: { readonly model: string; readonly variant: string };
  readonly id: string;
}

/** Empties the payloads of the model up to this record, in the order in which records were modified. */
export function Prune({ name, model: { model, variant }, id }: PruneProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const prune = useChange((client) => pruneUntil(client, name, { model, variant }, id), {
    done: (count) => `Pruned ${counted(count, 'record')}`,
    onDone: () => setOpen(false),
    showsFailure: true,
  });
  return (
    <>
      <Button icon="close" tone="danger" onPress={() => setOpen(true)}>
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
