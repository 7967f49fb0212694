import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Environment } from '#client/index.ts';
import { useChange } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';

interface DeletionProps {
  readonly environment: Environment;
}

export function EnvironmentDeletion({ environment: { id, name } }: DeletionProps): JSX.Element {
  const { path } = useAccess();
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const remove = useChange(
    (client) =>
      client.request('DELETE /environments/{environmentId}', { params: { environmentId: id } }),
    {
      done: `${name} was deleted`,
      onDone: () => navigate(path('/environments')),
      showsFailure: true,
    },
  );
  return (
    <div class="card padded row spread">
      <p>A deleted environment takes its integrations, connections, records and keys with it.</p>
      <Button tone="danger" onPress={() => setOpen(true)}>
        Delete the environment…
      </Button>
      {isOpen && (
        <ConfirmChange
          title="Delete the environment?"
          verb="Delete the environment"
          isDangerous
          typed={name}
          change={remove}
          onClose={() => setOpen(false)}
        >
          <p>
            All integrations, connections, records, functions, webhooks and keys of <b>{name}</b>{' '}
            are deleted. It cannot be undone.
          </p>
        </ConfirmChange>
      )}
    </div>
  );
}
