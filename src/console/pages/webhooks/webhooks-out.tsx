import type { JSX } from 'preact';
import { useParts } from '../../data/route.ts';
import { LinkTabs } from '../../design/tabs.tsx';
import { useAccess } from '../../session/context.tsx';
import { Page } from '../../shell/page.tsx';
import { Endpoints } from './endpoints.tsx';
import { Messages } from './messages.tsx';
import { SigningKey } from './signing-key.tsx';

const tabs = [
  { id: 'messages', label: 'Messages' },
  { id: 'endpoints', label: 'Endpoints' },
  { id: 'signing-key', label: 'Signing key' },
] as const;

export function WebhooksOut(): JSX.Element {
  const { path } = useAccess();
  const [, part] = useParts();
  const current = tabs.find(({ id }) => id === part)?.id ?? 'messages';
  return (
    <Page title="Webhooks out" about="Signed webhooks to your application, with every attempt.">
      <LinkTabs
        label="Webhooks out"
        current={current}
        tabs={tabs.map(({ id, label }) => ({ id, label, href: path(`/webhooks-out/${id}`) }))}
      />
      {current === 'messages' && <Messages />}
      {current === 'endpoints' && <Endpoints />}
      {current === 'signing-key' && <SigningKey />}
    </Page>
  );
}
