import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ConnectToken } from '#client/index.ts';
import { useChange } from '../../data/read.ts';
import { useUrlState } from '../../data/url-state.ts';
import { LinkButton } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { exact } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { useIntegrationChoices } from '../../shell/filter.tsx';
import { Page } from '../../shell/page.tsx';

/** Creates a connect session and opens the connect page. */
export function Connect(): JSX.Element {
  const { path } = useAccess();
  const integrations = useIntegrationChoices();
  return (
    <Page
      title="Connect an account"
      about="Opens the connect page, as your users see it, in a window of its own."
      crumbs={[['Connections', path('/connections')]]}
    >
      {integrations.length === 0 ? (
        <Empty
          title="No integrations yet"
          action={
            <LinkButton href={path('/integrations/new')} tone="primary" icon="plus">
              Add an integration
            </LinkButton>
          }
        >
          An account belongs to an integration: add one first.
        </Empty>
      ) : (
        <ConnectForm />
      )}
    </Page>
  );
}

function ConnectForm(): JSX.Element {
  const filters = useUrlState();
  const integrations = useIntegrationChoices();
  const [user, setUser] = useState('console-user');
  const [email, setEmail] = useState('');
  const integration = filters.sent('integration');
  const create = useChange(
    (client) =>
      client.request('POST /connect/sessions', {
        body: {
          end_user: { id: user, ...(email === '' ? {} : { email }) },
          ...(integration === undefined ? {} : { allowed_integrations: [integration] }),
        },
      }),
    {
      showsFailure: true,
      onDone: ({ data }) => void window.open(data.connect_link, '_blank', 'noopener'),
    },
  );
  return (
    <ChangeForm
      change={create}
      verb="Open the connect page"
      icon="external"
      isCard
      outcome={create.data !== undefined && <Opened session={create.data.data} />}
    >
      <Select
        label="Integration"
        value={integration ?? ''}
        choices={[{ value: '', label: 'The user chooses' }, ...integrations]}
        onChange={(value) => filters.set({ integration: value })}
      />
      <TextField
        label="End user"
        hint="The id of the person in your application"
        value={user}
        isRequired
        onInput={setUser}
      />
      <TextField label="Email" value={email} onInput={setEmail} />
    </ChangeForm>
  );
}

function Opened({ session }: { readonly session: ConnectToken }): JSX.Element {
  const { path } = useAccess();
  return (
    <Notice tone="good">
      <p>
        The page is open in another window, until {exact(new Date(session.expires_at))}. The account
        appears under connections.
      </p>
      <div class="row">
        <a href={session.connect_link} target="_blank" rel="noopener noreferrer">
          Open it again
        </a>
        <CopyButton text={session.connect_link} label="Copy the link" />
        <LinkButton href={path('/connections')} isSmall>
          Connections
        </LinkButton>
      </div>
    </Notice>
  );
}
