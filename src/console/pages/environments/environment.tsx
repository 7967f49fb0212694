import type { JSX } from 'preact';
import { useRead } from '../../data/read.ts';
import { pathOf, useParts } from '../../data/route.ts';
import { LinkTabs } from '../../design/tabs.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { ConnectPage } from './connect-page.tsx';
import { EnvironmentDeletion } from './environment-deletion.tsx';
import { EnvironmentSettings } from './environment-settings.tsx';
import { Keys } from './keys.tsx';
import { Retention } from './retention.tsx';

const tabs = [
  { id: 'keys', label: 'Keys', scope: 'account:environments:api_keys:list' },
  { id: 'settings', label: 'Settings', scope: 'account:environments:read' },
  { id: 'connect-page', label: 'Connect page', scope: 'account:environments:read' },
  { id: 'retention', label: 'Retention', scope: 'account:environments:read' },
] as const;

export function Environment(): JSX.Element {
  const { can, path } = useAccess();
  const [, id = '', part] = useParts();
  const environmentId = Number(id);
  const query = useRead('GET /environments/{environmentId}', { params: { environmentId } });
  const offered = tabs.filter(({ scope }) => can(scope));
  const current = (offered.find((tab) => tab.id === part) ?? offered[0])?.id;
  return (
    <Page
      title={query.data?.data.name ?? 'Environment'}
      crumbs={[['Environments', path('/environments')]]}
    >
      <LinkTabs
        label="Environment"
        current={current ?? ''}
        tabs={offered.map((tab) => ({
          ...tab,
          href: path(`${pathOf('environments', id)}/${tab.id}`),
        }))}
      />
      <LoadedState query={query}>
        {({ data }) => (
          <>
            {current === 'keys' && <Keys environmentId={environmentId} />}
            {current === 'settings' && (
              <div class="stack">
                <EnvironmentSettings environment={data} />
                {/* The service keeps prod. */}
                {can('account:environments:delete') && data.name !== 'prod' && (
                  <EnvironmentDeletion environment={data} />
                )}
              </div>
            )}
            {current === 'connect-page' && <ConnectPage environment={data} />}
            {current === 'retention' && <Retention environment={data} />}
          </>
        )}
      </LoadedState>
    </Page>
  );
}
