import type { ConnectResult, Integration } from './api.ts';
import type { App, View } from './app.ts';
import { h } from './dom.ts';
import { logoOf } from './logo.ts';
import { forgetTab } from './tab-state.ts';

/** The success page; notifies the waiting page. */
export function connectedView(app: App, integration: Integration, result: ConnectResult): View {
  const { connectionId, providerConfigKey, isPending } = result;
  app.host.notify({ type: 'connect', connectionId, providerConfigKey, isPending });
  return async ({ t }) => {
    const name = integration.display_name;
    const finish = (): void => {
      forgetTab();
      app.host.notify({ type: 'close' });
      window.close();
    };
    const button = (label: string, kind: string, run: () => void) =>
      h('button', { type: 'button', class: kind, on: { click: run } }, label);
    const isOne = app.integrations.length === 1;
    return {
      title: t('connected', { name }),
      logo: logoOf(integration),
      content: [
        h('p', { class: 'intro done' }, t(isPending ? 'pendingText' : 'connectedText', { name })),
        ...(app.host.isPresent ? [button(t('finish'), 'primary', finish)] : []),
        ...(isOne ? [] : [button(t('another'), 'plain', () => app.go.list())]),
      ],
    };
  };
}
