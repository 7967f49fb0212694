import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { dayMs, instantOf } from '../../data/local-time.ts';
import { useChange } from '../../data/read.ts';
import { Select, TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Notice } from '../../design/states.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { grantedScopes, type KeyScope } from './key-scopes.ts';
import { ScopeTree } from './scope-tree.tsx';

const accesses = [
  { value: 'full', label: 'Full access to the environment' },
  { value: 'backend', label: 'Backend: read records, run actions and syncs, call providers' },
  { value: 'auth', label: 'Sign-up: create connect sessions, nothing else' },
  { value: 'deploy', label: 'Deployment: deploy functions, nothing else' },
  { value: 'scopes', label: 'Chosen scopes…' },
] as const;

interface CreateKeyProps {
  readonly environmentId: number;
  readonly onSecret: (secret: string) => void;
  readonly onClose: () => void;
}

export function CreateKey({ environmentId, onSecret, onClose }: CreateKeyProps): JSX.Element {
  const [name, setName] = useState('');
  const [choice, setChoice] = useState<string>('full');
  const [chosen, setChosen] = useState<ReadonlySet<KeyScope>>(new Set());
  const [expiry, setExpiry] = useState<Expiry>(noExpiry);
  const profile = (['auth', 'deploy', 'backend'] as const).find((one) => one === choice);
  const scopes = grantedScopes(chosen);
  const isEmpty = choice === 'scopes' && scopes.length === 0;
  const create = useChange(
    (client) => {
      const access = choice === 'scopes' ? { scopes } : profile === undefined ? {} : { profile };
      return client.request('POST /environment/api-keys', {
        body: {
          environment_id: environmentId,
          display_name: name,
          ...access,
          ...expiryOf(expiry),
        },
      });
    },
    {
      showsFailure: true,
      onDone: ({ data }) => {
        onClose();
        onSecret(data.secret);
      },
    },
  );
  const [isAsked, setAsked] = useState(false);
  const send = { ...create, mutate: () => (isEmpty ? setAsked(true) : create.mutate()) };
  return (
    <Dialog title="Create a key" isWide={choice === 'scopes'} onClose={onClose}>
      <ChangeForm change={send} verb="Create the key">
        <TextField
          label="Name"
          hint="What uses it, such as “billing service”"
          value={name}
          isRequired
          onInput={setName}
        />
        <Select label="Access" value={choice} choices={accesses} onChange={setChoice} />
        {choice === 'scopes' && <ScopeTree chosen={chosen} onChange={setChosen} />}
        {isEmpty && isAsked && <Notice tone="bad">Choose at least one scope.</Notice>}
        <ExpiryField expiry={expiry} onChange={setExpiry} />
      </ChangeForm>
    </Dialog>
  );
}

/** A choice of when a key expires. */
export interface Expiry {
  readonly choice: string;
  /** A local date and time. */
  readonly date: string;
}

export const noExpiry: Expiry = { choice: 'never', date: '' };
export const sameExpiry: Expiry = { choice: 'same', date: '' };

const choices = [
  { value: 'never', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'date', label: 'On a date…' },
];

/** As the API takes it; empty where it stays as it is. */
export function expiryOf({ choice, date }: Expiry): { readonly expires_at?: string | null } {
  if (choice === 'same') return {};
  if (choice === 'never') return { expires_at: null };
  if (choice === 'date') {
    const instant = instantOf(date);
    return instant === undefined ? {} : { expires_at: instant };
  }
  return { expires_at: new Date(new Date().getTime() + Number(choice) * dayMs).toISOString() };
}

interface ExpiryFieldProps {
  readonly expiry: Expiry;
  /** What stays without a choice; absent for a new key. */
  readonly same?: string;
  readonly onChange: (expiry: Expiry) => void;
}

export function ExpiryField({ expiry, same, onChange }: ExpiryFieldProps): JSX.Element {
  const { choice, date } = expiry;
  return (
    <>
      <Select
        label="Expires"
        hint="From then on it is refused. It stays listed until it is deleted."
        value={choice}
        choices={same === undefined ? choices : [{ value: 'same', label: same }, ...choices]}
        onChange={(next) => onChange({ choice: next, date })}
      />
      {choice === 'date' && (
        <TextField
          label="Date and time"
          type="datetime-local"
          value={date}
          isRequired
          onInput={(next) => onChange({ choice, date: next })}
        />
      )}
    </>
  );
}
