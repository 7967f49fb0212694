import { createHash } from 'node:crypto';
import type { RouteAnswer } from '../../http/define-route.ts';
import type { Failure } from './outcome.ts';

/** How a redirect ended, for the person's browser. */
export type Outcome = { readonly wsClientId: string | null } & (
  | {
      readonly ok: true;
      readonly providerConfigKey: string;
      readonly connectionId: string;
      readonly isPending: boolean;
    }
  | ({ readonly ok: false; readonly status: number } & Failure)
);

const script = `
const result = JSON.parse(document.getElementById('result').textContent);
const channel = new BroadcastChannel('svc-oauth-callback');
const close = () => window.close();
const onMessage = ({ data }) => { if (data && data.type === 'svc_oauth_callback_ack') close(); };
channel.addEventListener('message', onMessage);
window.addEventListener('message', onMessage);
channel.postMessage(result);
if (window.opener) window.opener.postMessage(result, '*');
setTimeout(close, 500);
`;
const scriptHash = createHash('sha256').update(script).digest('base64');
const policy = `default-src 'none'; script-src 'sha256-${scriptHash}'; frame-ancestors 'none'`;

/** Tells the page that waits, and closes itself (contract/http.md section 5.1, "Result"). */
export function resultPage(outcome: Outcome): RouteAnswer {
  const message = outcome.ok
    ? {
        type: 'svc_oauth_callback_success',
        payload: {
          providerConfigKey: outcome.providerConfigKey,
          connectionId: outcome.connectionId,
          isPending: outcome.isPending,
        },
      }
    : {
        type: 'svc_oauth_callback_error',
        payload: {
          message: outcome.message,
          errorType: outcome.errorType,
          logId: outcome.logId,
          providerCode: outcome.providerCode,
        },
      };
  const data = JSON.stringify(message).replaceAll('<', '\\u003c');
  const text = outcome.ok ? 'Connected. You can close this window.' : escaped(outcome.message);
  const html =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Connect</title></head><body>' +
    `<p>${text}</p><script type="application/json" id="result">${data}</script>` +
    `<script>${script}</script></body></html>`;
  return {
    status: outcome.ok ? 200 : outcome.status,
    body: Buffer.from(html),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    },
  };
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
