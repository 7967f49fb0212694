import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { failureOf } from '../data/failure.ts';
import { Button } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Icon } from '../design/icon.tsx';
import { Dialog } from '../design/overlay.tsx';
import { FailureNotice } from '../design/states.tsx';
import { identitySignInUrl, readIdentityProvider, signIn, type Session } from './session.ts';

export const sessionQuery = ['session'] as const;

/** The page of those who are not signed in. @param failure why an earlier sign-in failed */
export function SignIn({ failure }: { readonly failure: unknown }): JSX.Element {
  return (
    <main class="sign-in">
      <div class="card stack">
        <div class="brand">
          <Icon name="layers" />
          svc
        </div>
        <h1>Sign in</h1>
        {failure !== null && <FailureNotice failure={failureOf(failure)} />}
        <IdentityProvider />
        <KeyForm session={null} />
        <p class="muted">
          People sign in with the link of an owner. The first start of the gateway prints the keys
          and a sign-in link. A key is exchanged for a session and never stored in this browser.
        </p>
      </div>
    </main>
  );
}

/** The button of the identity provider, where there is one. */
function IdentityProvider(): JSX.Element | null {
  const { data: name = null } = useQuery({
    queryKey: ['sign-in'],
    queryFn: readIdentityProvider,
    retry: false,
    staleTime: Infinity,
  });
  if (name === null) return null;
  const returnTo = location.pathname + location.search;
  return (
    <>
      <a class="button primary" href={identitySignInUrl(returnTo)}>
        <Icon name="user" />
        Sign in with {name}
      </a>
      <p class="muted">Or with a key:</p>
    </>
  );
}

interface AddKeyProps {
  readonly session: Session;
  readonly onClose: () => void;
}

/** Adds the key of another environment, or of the account, to the session. */
export const AddKey = ({ session, onClose }: AddKeyProps): JSX.Element => (
  <Dialog title="Add a key" onClose={onClose}>
    <p class="muted">
      A session holds one account key and one key of each environment. Sign out to remove them all.
    </p>
    <KeyForm session={session} onDone={onClose} />
  </Dialog>
);

interface KeyFormProps {
  readonly session: Session | null;
  readonly onDone?: () => void;
}

function KeyForm({ session, onDone }: KeyFormProps): JSX.Element {
  const [key, setKey] = useState('');
  const queries = useQueryClient();
  const exchange = useMutation({
    mutationFn: (text: string) => signIn({ key: text.trim() }, session),
    onSuccess: (next) => {
      queries.setQueryData(sessionQuery, next);
      onDone?.();
    },
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        exchange.mutate(key);
      }}
    >
      <TextField
        label="API key"
        hint="Of an environment (svc_env_…) or of the account (svc_acct_…)"
        type="password"
        value={key}
        isRequired
        onInput={setKey}
      />
      {exchange.error !== null && <FailureNotice failure={failureOf(exchange.error)} />}
      <Button type="submit" tone="primary" isBusy={exchange.isPending}>
        {session === null ? 'Sign in' : 'Add the key'}
      </Button>
    </form>
  );
}
