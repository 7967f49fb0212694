import type { JSX } from 'preact';
import type { Answer } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Table } from '../../design/table.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { exportOf, firstBroken } from './chain.ts';

type Chain = Answer<'GET /audit/chains'>['data'][number];

/** The chain of each environment and of the account: whether it is whole, and its events as a file. */
export function Chains(): JSX.Element {
  const query = useRead('GET /audit/chains', {});
  return (
    <div class="stack">
      <p class="muted">
        Each event contains the hash of the one before it, and the owner of an environment keeps the
        last hash apart from the events. Verify computes every hash in this browser.
      </p>
      <LoadedState query={query}>
        {({ data }) => (
          <Table
            label="Chains"
            rows={data}
            keyOf={({ environment }) => environment}
            columns={[
              { title: 'Environment', cell: (chain) => nameOf(chain) },
              { title: 'Events', fit: 'end', cell: ({ length }) => length.toLocaleString('en') },
              { title: '', fit: 'tight', cell: (chain) => <ChainActions chain={chain} /> },
              {
                title: 'Last hash',
                fit: 'tight',
                cell: ({ hash }) => (
                  <span class="row mono" title={hash}>
                    {hash.slice(0, hashShown)}…
                    <CopyButton text={hash} label="Copy the hash" />
                  </span>
                ),
              },
            ]}
          />
        )}
      </LoadedState>
    </div>
  );
}

/** Enough to compare by eye; the button copies all. */
const hashShown = 12;

const nameOf = ({ environment, name }: Chain): string => name ?? environment;

function ChainActions({ chain }: { readonly chain: Chain }): JSX.Element {
  const verify = useChange((client) => firstBroken(client, chain));
  const save = useChange((client) => exportOf(client, chain.environment), {
    onDone: (events) => download(events, `audit-${nameOf(chain)}.ndjson`),
  });
  return (
    <span class="row">
      {verify.data === null && <Badge tone="good">whole</Badge>}
      {typeof verify.data === 'number' && <Badge tone="bad">changed at {verify.data}</Badge>}
      <Button
        isSmall
        icon="shield"
        title={`Verify the chain of ${nameOf(chain)}`}
        isBusy={verify.isPending}
        onPress={() => verify.mutate()}
      >
        Verify
      </Button>
      <Button
        isSmall
        icon="list"
        title={`Export the chain of ${nameOf(chain)} as NDJSON`}
        isBusy={save.isPending}
        onPress={() => save.mutate()}
      >
        Export
      </Button>
    </span>
  );
}

/** Offers the content as a file. */
function download(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
