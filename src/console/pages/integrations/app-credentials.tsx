import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useChange, useRead } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { AppFields, credentialsOf, hasApp, type App } from './app-fields.tsx';

interface AppProps {
  readonly integration: string;
}

/** Of the app at the provider; nothing for providers that need none. */
export function AppCredentials({
  integration,
  provider,
}: AppProps & { readonly provider: string }): JSX.Element | null {
  const { can } = useAccess();
  const [isShown, setShown] = useState(false);
  const [isReplacing, setReplacing] = useState(false);
  const { data } = useRead('GET /providers/{provider}', { params: { provider } });
  const mode = data?.data.auth_mode ?? '';
  if (!hasApp(mode)) return null;
  return (
    <div class="card">
      <div class="card-head">
        <h2>App credentials</h2>
        <div class="row">
          {can('environment:integrations:read_credentials') && (
            <Button icon="key" onPress={() => setShown(!isShown)}>
              {isShown ? 'Hide' : 'Reveal (audited)'}
            </Button>
          )}
          {can('environment:integrations:update') && (
            <Button icon="refresh" onPress={() => setReplacing(true)}>
              Replace…
            </Button>
          )}
        </div>
      </div>
      {isShown ? (
        <Secrets integration={integration} />
      ) : (
        <p class="card-body muted">Client ids, secrets and keys are stored sealed.</p>
      )}
      {isReplacing && (
        <Replacement integration={integration} mode={mode} onClose={() => setReplacing(false)} />
      )}
    </div>
  );
}

/** Read on a press only: the service audits each reading. */
function Secrets({ integration }: AppProps): JSX.Element {
  const query = useRead('GET /integrations/{uniqueKey}', {
    params: { uniqueKey: integration },
    query: { include: ['credentials'] },
  });
  return (
    <div class="card-body">
      <LoadedState query={query}>
        {({ data: { credentials } }) =>
          credentials === null || credentials === undefined ? (
            <p class="muted">This integration has no credentials of an app.</p>
          ) : (
            <KeyValues
              rows={Object.entries(credentials).map(
                ([name, value]) =>
                  [
                    name,
                    <span key={name} class="mono">
                      {value}
                    </span>,
                  ] as const,
              )}
            />
          )
        }
      </LoadedState>
    </div>
  );
}

interface ReplacementProps extends AppProps {
  readonly mode: string;
  readonly onClose: () => void;
}

function Replacement({ integration, mode, onClose }: ReplacementProps): JSX.Element {
  const [app, setApp] = useState<App>({});
  const replace = useChange(
    (client) =>
      client.request('PATCH /integrations/{uniqueKey}', {
        params: { uniqueKey: integration },
        body: { credentials: credentialsOf(mode, app) },
      }),
    { done: 'The credentials were replaced', onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title={`Replace the app credentials of ${integration}`} onClose={onClose}>
      <ChangeForm change={replace} verb="Replace the credentials">
        <p class="muted">
          Connections keep their tokens; refreshes and new authorizations use the new credentials at
          once.
        </p>
        <AppFields mode={mode} app={app} onChange={setApp} />
      </ChangeForm>
    </Dialog>
  );
}
