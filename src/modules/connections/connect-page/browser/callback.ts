import { languageFor, translator } from '#modules/access/connect-ui/texts/translate.ts';
import { setTheme, themeChoice } from './apply-theme.ts';
import {
  callbackAck,
  callbackChannel,
  type CallbackMessage,
  type CallbackOutcome,
} from './callback-outcome.ts';
import { h } from './dom.ts';
import { failureBox } from './failure-box.ts';
import { failureOfOutcome } from './flow.ts';
import { hasLeft, keepOutcome, readTabState } from './tab-state.ts';

/** Ends a flow at a provider: notifies the page that started it, then returns there or closes the window. */

const closeWithinMs = 500;
const data = document.getElementById('data')?.textContent ?? '';
const outcome = JSON.parse(data) as CallbackOutcome;
const kept = readTabState();
const language = languageFor([kept?.language ?? '', ...navigator.languages]);
const t = translator(language);

/** The URL of the page, relative to the folder of this script. */
const pageUrl = new URL('..', import.meta.url).href;

function show(): void {
  document.documentElement.lang = language;
  setTheme(themeChoice(kept?.theme ?? null) ?? 'system');
  const heading = t(outcome.ok ? 'callbackDone' : 'title');
  const content = outcome.ok
    ? h('h1', {}, heading)
    : h('div', {}, h('h1', {}, heading), failureBox(failureOfOutcome(outcome), '', t));
  document.title = heading;
  const main = h('main', { class: 'content' }, content);
  document.getElementById('page')?.append(h('div', { class: 'card' }, main));
}

function notifyOpener(): void {
  const type = outcome.ok ? 'svc_oauth_callback_success' : 'svc_oauth_callback_error';
  const message: CallbackMessage = { type, payload: outcome };
  const channel = new BroadcastChannel(callbackChannel);
  const onAnswer = ({ data: answer }: MessageEvent): void => {
    if ((answer as { type?: unknown } | null)?.type === callbackAck) window.close();
  };
  channel.addEventListener('message', onAnswer);
  addEventListener('message', (event) => {
    if (event.source === window.opener) onAnswer(event);
  });
  channel.postMessage(message);
  const opener = window.opener as Window | null;
  if (opener !== null && isOurs(opener)) opener.postMessage(message, location.origin);
  else opener?.postMessage(toldToOthers(outcome), '*');
  // Without an acknowledgment the error stays visible.
  if (outcome.ok) setTimeout(() => window.close(), closeWithinMs);
}

/** A page of another origin cannot be read. */
function isOurs(opener: Window): boolean {
  try {
    return opener.location.origin === location.origin;
  } catch {
    return false;
  }
}

/** For a page of the application that opened the window itself: the outcome, without data of the account. */
function toldToOthers(callbackOutcome: CallbackOutcome): object {
  if (callbackOutcome.ok) return { type: 'svc_oauth_callback_success' };
  const { message, errorType } = callbackOutcome;
  return { type: 'svc_oauth_callback_error', payload: { message, errorType } };
}

if (hasLeft()) {
  keepOutcome(outcome);
  location.replace(pageUrl);
} else {
  show();
  notifyOpener();
}
