import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Check, TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Table } from '../../design/table.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

export function Environments(): JSX.Element {
  const { can, path } = useAccess();
  const [isAdding, setAdding] = useState(false);
  const query = useRead('GET /environments', {});
  return (
    <Page
      title="Environments"
      about="Each has its own integrations, connections, records, keys and webhooks."
      actions={
        can('account:environments:create') && (
          <Button tone="primary" icon="plus" onPress={() => setAdding(true)}>
            Create an environment
          </Button>
        )
      }
    >
      <LoadedState query={query}>
        {({ data }) => (
          <Table
            label="Environments"
            rows={data}
            keyOf={({ id }) => String(id)}
            columns={[
              {
                title: 'Name',
                cell: ({ id, name }) => (
                  <Link href={path(pathOf('environments', String(id)))}>{name}</Link>
                ),
              },
              {
                title: 'Use',
                fit: 'tight',
                cell: ({ is_production: isProduction }) => (
                  <Badge tone={isProduction ? 'warn' : 'plain'}>
                    {isProduction ? 'production' : 'development'}
                  </Badge>
                ),
              },
            ]}
          />
        )}
      </LoadedState>
      {isAdding && <EnvironmentForm onClose={() => setAdding(false)} />}
    </Page>
  );
}

function EnvironmentForm({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [name, setName] = useState('');
  const [isProduction, setProduction] = useState(false);
  const create = useChange(
    (client) =>
      client.request('POST /environments', { body: { name, is_production: isProduction } }),
    { done: `${name} was created`, onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title="Create an environment" onClose={onClose}>
      <ChangeForm change={create} verb="Create the environment">
        <TextField label="Name" value={name} isRequired onInput={setName} />
        <Check label="Production" isChecked={isProduction} onChange={setProduction} />
      </ChangeForm>
    </Dialog>
  );
}
