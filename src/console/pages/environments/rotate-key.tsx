import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKey, Client } from '#client/index.ts';
import { useChange } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Select } from '../../design/field.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Notice } from '../../design/states.tsx';
import { exact, Time } from '../../design/time.tsx';
import { useSession } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { ExpiryField, expiryOf, sameExpiry } from './create-key.tsx';

const overlaps = [
  { value: '86400', label: 'works for 24 hours more' },
  { value: '3600', label: 'works for an hour more' },
  { value: '604800', label: 'works for 7 days more' },
  { value: '2592000', label: 'works for 30 days more' },
  { value: '0', label: 'stops at once: it has leaked' },
];

/** The endpoints of environments' keys, or of the account's. */
export type KeyOwner = 'environment' | 'account';

interface Rotation {
  readonly overlap_seconds: number;
  readonly expires_at?: string | null;
}

const rotate = (client: Client, owner: KeyOwner, id: string, body: Rotation) =>
  owner === 'account'
    ? client.request('POST /account/api-keys/{id}/rotate', { params: { id }, body })
    : client.request('POST /environment/api-keys/{id}/rotate', { params: { id }, body });

const endPrevious = (client: Client, owner: KeyOwner, id: string) =>
  owner === 'account'
    ? client.request('DELETE /account/api-keys/{id}/previous-secret', { params: { id } })
    : client.request('DELETE /environment/api-keys/{id}/previous-secret', { params: { id } });

interface RotateKeyProps {
  readonly owner: KeyOwner;
  /** As the list has it now. */
  readonly row: ApiKey;
  readonly onClose: () => void;
}

/** From the new secret to the end of the one before, in three steps. */
export function RotateKey({ owner, row, onClose }: RotateKeyProps): JSX.Element {
  const [secret, setSecret] = useState<string | null>(null);
  const [isStored, setStored] = useState(false);
  const hasTwo = row.previous_secret !== null;
  const step = secret !== null && !isStored ? 2 : secret !== null || hasTwo ? 3 : 1;
  return (
    <Dialog title={`Rotate the key ${row.display_name}`} isWide onClose={onClose}>
      <Steps current={step} />
      {step === 1 && <NewSecret owner={owner} row={row} onSecret={setSecret} />}
      {step === 2 && secret !== null && (
        <StoreSecret secret={secret} onDone={() => setStored(true)} />
      )}
      {step === 3 && <EndPrevious owner={owner} row={row} onClose={onClose} />}
    </Dialog>
  );
}

const steps = ['Make a new secret', 'Put it in place', 'End the old secret'] as const;

const Steps = ({ current }: { readonly current: number }): JSX.Element => (
  <ol class="steps" aria-label="Steps">
    {steps.map((text, index) => (
      <li key={text} aria-current={index + 1 === current ? 'step' : undefined}>
        {text}
      </li>
    ))}
  </ol>
);

interface NewSecretProps extends Pick<RotateKeyProps, 'owner' | 'row'> {
  readonly onSecret: (secret: string) => void;
}

function NewSecret({ owner, row, onSecret }: NewSecretProps): JSX.Element {
  const [overlap, setOverlap] = useState('86400');
  const [expiry, setExpiry] = useState(sameExpiry);
  const change = useChange(
    (client) =>
      rotate(client, owner, row.id, { overlap_seconds: Number(overlap), ...expiryOf(expiry) }),
    { showsFailure: true, onDone: ({ data }) => onSecret(data.secret) },
  );
  const { expires_at: end } = row;
  // The session would lose the key, and the page with it, before the new secret could be copied.
  const offered = useIsHeld(row) ? overlaps.filter(({ value }) => value !== '0') : overlaps;
  return (
    <ChangeForm change={change} verb="Make a new secret">
      <p>
        The key keeps its name and scopes. Until the old secret ends, both work: nothing has to be
        changed at the same moment.
      </p>
      <Select
        label={`The old secret ${row.secret}`}
        hint={
          overlap === '0'
            ? 'What still has it is refused from now on. Sessions of the console lose the key, too.'
            : undefined
        }
        value={overlap}
        choices={offered}
        onChange={setOverlap}
      />
      <ExpiryField
        expiry={expiry}
        same={end === null ? 'Never, as before' : `${exact(new Date(end))}, as before`}
        onChange={setExpiry}
      />
    </ChangeForm>
  );
}

/** Whether this browser is signed in with the key. */
const useIsHeld = ({ id }: ApiKey): boolean => useSession().keys.some((key) => key.id === id);

interface StoreSecretProps {
  readonly secret: string;
  readonly onDone: () => void;
}

const StoreSecret = ({ secret, onDone }: StoreSecretProps): JSX.Element => (
  <div class="stack">
    <Notice tone="warn">
      Copy it now, and put it wherever the old one stands. Anyone with it can act as you.
    </Notice>
    <div class="row">
      <code class="grow secret">{secret}</code>
      <CopyButton text={secret} label="Copy the new secret" />
    </div>
    <div>
      <Button tone="primary" onPress={onDone}>
        It is in place
      </Button>
    </div>
  </div>
);

function EndPrevious({ owner, row, onClose }: RotateKeyProps): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const isHeld = useIsHeld(row);
  const end = useChange((client) => endPrevious(client, owner, row.id), {
    done: `The old secret of ${row.display_name} has ended`,
    showsFailure: true,
    onDone: () => onClose(),
  });
  const { previous_secret: previous } = row;
  if (previous === null) {
    return (
      <div class="stack">
        <Notice tone="good">The old secret has ended. The new one alone opens the key.</Notice>
        <div>
          <Button onPress={onClose}>Done</Button>
        </div>
      </div>
    );
  }
  return (
    <div class="stack">
      <KeyValues
        rows={[
          ['Old secret', <code key="old">{previous.secret}</code>],
          ['Old secret works until', <Until key="until" at={previous.valid_until} />],
          ['Old secret last used', <LastUse key="used" use={previous} />],
          ['New secret', <code key="new">{row.secret}</code>],
          ['New secret last used', <LastUse key="new-used" use={row} />],
        ]}
      />
      <p class="muted">
        The last use is shown with up to a minute of delay. While the old secret is still used,
        something has not got the new one yet.
      </p>
      <div class="row">
        <Button tone="danger" onPress={() => setAsking(true)}>
          End the old secret now…
        </Button>
        <Button onPress={onClose}>Let it end by itself</Button>
      </div>
      {isAsking && (
        <ConfirmChange
          title={`End the old secret of ${row.display_name}?`}
          verb="End the old secret"
          isDangerous
          change={end}
          onClose={() => setAsking(false)}
        >
          <p>
            What still has {previous.secret} is refused at once, and sessions of the console that
            began before lose the key. The new secret goes on working.
          </p>
          {isHeld && (
            <p>This browser is signed in with this key: sign in again with the new secret.</p>
          )}
        </ConfirmChange>
      )}
    </div>
  );
}

const Until = ({ at }: { readonly at: string }): JSX.Element => (
  <span>
    {exact(new Date(at)).replace(/ \(.*$/, '')} · <Time at={at} />
  </span>
);

interface LastUseProps {
  readonly use: { readonly last_used_at: string | null; readonly last_used_from: string | null };
}

/** When and from where a secret was used last. */
export function LastUse({ use }: LastUseProps): JSX.Element {
  const { last_used_at: at, last_used_from: network } = use;
  if (at === null) return <span class="muted">not used yet</span>;
  return (
    <span class="last-use">
      <Time at={at} />
      {network !== null && <span class="muted"> from {network}</span>}
    </span>
  );
}
