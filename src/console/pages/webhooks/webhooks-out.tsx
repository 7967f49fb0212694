import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useChange } from '../../data/read.ts';
import { useParts } from '../../data/route.ts';
import { Button } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { LinkTabs } from '../../design/link-tabs.tsx';
import { Notice } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { Page } from '../../shell/page.tsx';
import { Endpoints } from './endpoints.tsx';
import { Messages } from './messages.tsx';

const tabs = [
  { id: 'messages', label: 'Messages', scope: 'environment:webhooks:read' },
  { id: 'endpoints', label: 'Endpoints', scope: 'environment:webhook_endpoints:read' },
  { id: 'signing-key', label: 'Signing key', scope: 'environment:webhook_signing_key:read' },
] as const;

export function WebhooksOut(): JSX.Element {
  const { can, path } = useAccess();
  const [, part] = useParts();
  const offered = tabs.filter(({ scope }) => can(scope));
  const current = offered.find(({ id }) => id === part)?.id ?? 'messages';
  return (
    <Page title="Webhooks out" about="Signed webhooks to your application, with every attempt.">
      <LinkTabs
        label="Webhooks out"
        current={current}
        tabs={offered.map(({ id, label }) => ({ id, label, href: path(`/webhooks-out/${id}`) }))}
      />
      {current === 'messages' && <Messages />}
      {current === 'endpoints' && <Endpoints />}
      {current === 'signing-key' && <SigningKey />}
    </Page>
  );
}

/** Reveals or rotates the key that signs webhooks; both are audited. */
function SigningKey(): JSX.Element {
  const { can } = useAccess();
  const [key, setKey] = useState<string | null>(null);
  const [isRotating, setRotating] = useState(false);
  const rotate = useChange(
    (client) => client.request('POST /environment/webhook-signing-key/rotate'),
    {
      done: 'The signing key was rotated',
      showsFailure: true,
      onDone: ({ data }) => {
        setKey(data.webhook_signing_key);
        setRotating(false);
      },
    },
  );
  return (
    <div class="card padded stack">
      <p>
        Webhooks are signed with this key, so that the application can verify them. After a rotation
        the former key signs beside it for a day.
      </p>
      <div class="row">
        {can('environment:webhook_signing_key:read') && <Reveal onKey={setKey} />}
        {can('environment:webhook_signing_key:rotate') && (
          <Button tone="danger" icon="refresh" onPress={() => setRotating(true)}>
            Rotate…
          </Button>
        )}
      </div>
      {key !== null && (
        <Notice tone="good">
          <span class="row">
            <code class="grow">{key}</code>
            <CopyButton text={key} label="Copy the signing key" />
          </span>
        </Notice>
      )}
      {isRotating && (
        <ConfirmChange
          title="Rotate the signing key?"
          verb="Rotate the key"
          isDangerous
          change={rotate}
          onClose={() => setRotating(false)}
        >
          <p>
            Give the new key to the application within a day: after that only the new key signs.
          </p>
        </ConfirmChange>
      )}
    </div>
  );
}

function Reveal({ onKey }: { readonly onKey: (key: string) => void }): JSX.Element {
  const reveal = useChange((client) => client.request('GET /environment/webhook-signing-key'), {
    onDone: ({ data }) => onKey(data.webhook_signing_key),
  });
  return (
    <Button icon="eye" isBusy={reveal.isPending} onPress={() => reveal.mutate()}>
      Reveal (audited)
    </Button>
  );
}
