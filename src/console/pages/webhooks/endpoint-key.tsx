import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer, WebhookEndpoint } from '#client/index.ts';
import { useChange } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Select } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Notice } from '../../design/states.tsx';
import { exact } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';

type Keys = Answer<'GET /webhook-endpoints/{id}/signing-key'>['data'];

const overlaps = [
  { value: '86400', label: 'signs for one more day' },
  { value: '3600', label: 'signs for one more hour' },
  { value: '604800', label: 'signs for one more week' },
  { value: '0', label: 'ends at once' },
] as const;

interface EndpointKeyProps {
  readonly endpoint: WebhookEndpoint;
  readonly onClose: () => void;
}

/** Reveals or rotates the key that signs webhooks to the endpoint; both are audited. */
export function EndpointKey({ endpoint, onClose }: EndpointKeyProps): JSX.Element {
  const { id, display_name: name, url } = endpoint;
  const [keys, setKeys] = useState<Keys | null>(null);
  const params = { id };
  const reveal = useChange(
    (client) => client.request('GET /webhook-endpoints/{id}/signing-key', { params }),
    { onDone: ({ data }) => setKeys(data) },
  );
  const canRotate = useAccess().can('environment:webhook_signing_key:rotate');
  return (
    <Dialog title={`Signing key of ${name === '' ? url : name}`} isWide onClose={onClose}>
      <div class="stack">
        <p>
          Webhooks to this endpoint are signed with the key of the environment, until a rotation
          gives it a key of its own.
        </p>
        <div>
          <Button icon="eye" isBusy={reveal.isPending} onPress={() => reveal.mutate()}>
            Reveal (audited)
          </Button>
        </div>
        {keys !== null && <ShownKeys keys={keys} />}
        {canRotate && <RotateEndpointKey endpoint={endpoint} onKeys={setKeys} />}
      </div>
    </Dialog>
  );
}

const ShownKeys = ({ keys }: { readonly keys: Keys }): JSX.Element => (
  <Notice tone="good">
    <span class="row">
      <code class="grow secret">{keys.webhook_signing_key}</code>
      <CopyButton text={keys.webhook_signing_key} label="Copy the signing key" />
    </span>
    <p>
      {keys.managed_by === 'endpoint'
        ? 'The key of this endpoint alone.'
        : 'The key of the environment.'}
      {keys.previous_valid_until !== null &&
        ` The key before it signs too until ${exact(new Date(keys.previous_valid_until))}.`}
    </p>
  </Notice>
);

interface RotateProps {
  readonly endpoint: WebhookEndpoint;
  readonly onKeys: (keys: Keys) => void;
}

function RotateEndpointKey({ endpoint: { id }, onKeys }: RotateProps): JSX.Element {
  const [overlap, setOverlap] = useState<string>(overlaps[0].value);
  const change = useChange(
    (client) =>
      client.request('POST /webhook-endpoints/{id}/signing-key/rotate', {
        params: { id },
        body: { overlap_seconds: Number(overlap) },
      }),
    { done: 'The signing key was rotated', showsFailure: true, onDone: ({ data }) => onKeys(data) },
  );
  return (
    <ChangeForm change={change} verb="Make a new key">
      <Select label="The key before" value={overlap} choices={overlaps} onChange={setOverlap} />
    </ChangeForm>
  );
}
