import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';
import { languageFor } from '#modules/access/connect-ui/texts/translate.ts';
import { connectApi, ConnectError, emptyFailure, type Failure, type Integration } from './api.ts';
import type { App, View } from './app.ts';
import { setColors, setTheme, themeChoice } from './apply-theme.ts';
import { isExpired } from './failure-text.ts';
import { failureOfOutcome, listenForFlows, type FlowNotice } from './flow.ts';
import { formView } from './form-view.ts';
import { connectHost } from './host.ts';
import { openShell } from './shell.ts';
import { takePageOptions, forgetTab, keepTabState, takeReturn } from './tab-state.ts';
import {
  listView,
  expiredView,
  failedView,
  loadingView,
  missingView,
  connectedView,
} from './views.ts';

/** The page is `<service>/connect/ui/`. */
const base = withoutTrailingSlashes(new URL('../../..', location.href).href);
const options = takePageOptions();
const host = connectHost(options.parentOrigin);
const shell = openShell({
  root: document.getElementById('page') as HTMLElement,
  language: languageFor([options.language ?? '', ...navigator.languages]),
  onClose: host.isPresent ? close : null,
  onFailure: (error) => viewOf(startFailure(error)),
});

function close(): void {
  forgetTab();
  host.notify({ type: 'close' });
  window.close();
}

const startFailure = (error: unknown): Failure =>
  error instanceof ConnectError ? error.failure : { ...emptyFailure, message: String(error) };

function viewOf(failure: Failure): View {
  host.notify({
    type: 'error',
    code: failure.code,
    message: failure.message,
    logId: failure.logId,
  });
  return isExpired(failure) ? expiredView() : failedView(failure, () => void start());
}

async function start(): Promise<void> {
  void shell.show(loadingView());
  const token = options.token ?? (host.isPresent ? await host.token() : null);
  if (token === null) {
    await shell.show(missingView());
    return;
  }
  keepTabState({ ...options, token });
  try {
    await open(token);
  } catch (error) {
    await shell.show(viewOf(startFailure(error)));
  }
}

/** @throws ConnectError */
async function open(token: string): Promise<void> {
  const api = connectApi(base, token);
  const [session, integrations] = await Promise.all([api.session(), api.integrations()]);
  const { connectUISettings: settings, allowed_integrations: allowed = [] } = session;
  if (settings !== undefined) {
    setColors(settings);
    setTheme(themeChoice(options.theme) ?? settings.defaultTheme);
    shell.dress(settings);
    if (settings.showWatermark) shell.showWatermark();
  }
  let notice: FlowNotice | null = null;
  const app: App = {
    api,
    host,
    session,
    integrations: integrations
      .filter(({ unique_key: key }) => allowed.length === 0 || allowed.includes(key))
      .sort((a, b) => a.display_name.localeCompare(b.display_name)),
    notice() {
      if (notice === null || notice.isOver()) {
        notice?.close();
        notice = listenForFlows(api.socketUrl(session.websocketsPath ?? '/'));
      }
      return notice;
    },
    show: (view) => void shell.show(view),
    say: (text) => shell.say(text),
    go: {
      list: () => app.show(listView(app)),
      form: (integration) => app.show(formView(app, integration)),
      connected: (integration, result) => app.show(connectedView(app, integration, result)),
      failed: (failure) => app.show(viewOf(failure)),
    },
  };
  host.notify({ type: 'open' });
  await shell.show(firstView(app));
}

/** The outcome of the flow that left this tab, otherwise the only integration, otherwise the list. */
function firstView(app: App): View {
  const returned = takeReturn();
  const find = (key: string | undefined): Integration | undefined =>
    app.integrations.find(({ unique_key }) => unique_key === key);
  const left = find(returned?.left.integrationKey);
  if (left !== undefined) {
    const outcome = returned?.outcome ?? null;
    if (outcome?.ok === true) return connectedView(app, left, outcome);
    return formView(app, left, outcome === null ? null : failureOfOutcome(outcome));
  }
  const [first, ...others] = app.integrations;
  return first !== undefined && others.length === 0 ? formView(app, first) : listView(app);
}

setTheme(themeChoice(options.theme) ?? 'system');
void start();
