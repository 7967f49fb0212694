import { ConnectError, type Failure, type Integration } from './api.ts';
import type { App, View } from './app.ts';
import { h } from './dom.ts';
import type { ConnectRequest } from './form.ts';
import { logoOf } from './logo.ts';
import { noteLeaving } from './tab-state.ts';

const windowFeatures = 'popup,width=560,height=720';
const lookEveryMs = 500;

/** The way to a provider's page, and the handling of a blocked window. */
export interface Redirect {
  readonly integration: Integration;
  readonly path: string;
  readonly request: ConnectRequest;
  readonly onFailure: (failure: Failure) => void;
}

/** The provider's window; null if the browser blocked it. */
interface ProviderWindow {
  readonly view: Window | null;
  readonly url: string;
}

/** Opens the provider's page, which browsers allow only directly in a click handler, and waits for the outcome. */
export async function openWaiting(app: App, redirect: Redirect): Promise<void> {
  const view = window.open('', '_blank', windowFeatures);
  const { path, request } = redirect;
  const url = app.api.redirectUrl(path, request, await app.notice().clientId());
  view?.location.replace(url);
  wait(app, redirect, { view, url });
}

/** Leaves this page for the provider's; the end of the flow returns here. */
export function continueHere(app: App, { integration, path, request }: Redirect): void {
  noteLeaving({ integrationKey: integration.unique_key });
  location.assign(app.api.redirectUrl(path, request, null));
}

function wait(app: App, redirect: Redirect, popup: ProviderWindow): void {
  const { integration, onFailure } = redirect;
  const ended = new AbortController();
  const { signal } = ended;
  const end = (): void => {
    ended.abort();
    popup.view?.close();
  };
  app
    .notice()
    .outcome(integration.unique_key, signal)
    .then(
      (result) => {
        end();
        app.go.connected(integration, result);
      },
      (error: unknown) => {
        end();
        if (!(error instanceof ConnectError)) throw error;
        onFailure(error.failure);
      },
    );
  let isClosed = false;
  const view = waitingView(app, redirect, { popup, isClosed: () => isClosed, end });
  // A provider may isolate its window, which then looks closed: shown to the user, without other effect.
  const look = setInterval(() => {
    if (popup.view?.closed !== true) return;
    clearInterval(look);
    isClosed = true;
    app.show(view);
  }, lookEveryMs);
  signal.addEventListener('abort', () => clearInterval(look));
  app.show(view);
}

interface ProviderWait {
  readonly popup: ProviderWindow;
  readonly isClosed: () => boolean;
  readonly end: () => void;
}

function waitingView(app: App, redirect: Redirect, { popup, isClosed, end }: ProviderWait): View {
  const { integration } = redirect;
  const again = (): void => {
    end();
    void openWaiting(app, redirect);
  };
  const cancel = (): void => {
    end();
    app.go.form(integration);
  };
  return async ({ t }) => {
    const isBlocked = popup.view === null;
    const text = isBlocked ? 'windowBlocked' : isClosed() ? 'windowClosed' : 'windowOpen';
    const button = (label: string, kind: string, run: () => void) =>
      h('button', { type: 'button', class: kind, on: { click: run } }, label);
    return {
      title: t('connectTo', { name: integration.display_name }),
      logo: logoOf(integration),
      content: [
        h('p', { class: 'intro waiting', role: 'status' }, t(text)),
        isBlocked
          ? blockedLink(popup.url, t('openWindow'))
          : button(t('windowAgain'), 'primary', again),
        button(t('cancel'), 'plain', cancel),
      ],
      onBack: cancel,
    };
  };
}

/** A link works where browsers block windows of scripts. */
const blockedLink = (url: string, label: string): HTMLElement =>
  h('a', { class: 'primary', href: url, target: '_blank', rel: 'opener' }, label);
