import { createHash } from 'node:crypto';
import { demoClientId } from './definitions.ts';

/** A response of the demo provider. */
export interface DemoAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as HTML. */
  readonly body?: object | string;
}

export const problem = (status: number, code: string, message: string): DemoAnswer => ({
  status,
  body: { error: code, error_description: message },
});

interface Authorization {
  readonly redirectUri: string;
  readonly state: string;
  readonly challenge: string;
}

/**
 * An authorization request (RFC 6749 section 4.1.1 with RFC 7636); null unless it is of the demo's client and leads to
 * the callback of this gateway: nothing else is ever redirected to.
 */
export function authorizationOf(query: URLSearchParams, callback: string): Authorization | null {
  const challenge = query.get('code_challenge') ?? '';
  const isKnown =
    query.get('client_id') === demoClientId &&
    query.get('redirect_uri') === callback &&
    query.get('response_type') === 'code' &&
    query.get('code_challenge_method') === 'S256' &&
    challenge !== '';
  return isKnown ? { redirectUri: callback, state: query.get('state') ?? '', challenge } : null;
}

/** Back to the gateway, with a code or an error. */
export function returnAnswer(
  { redirectUri, state }: Authorization,
  outcome: Readonly<Record<string, string>>,
): DemoAnswer {
  const location = `${redirectUri}?${new URLSearchParams({ ...outcome, state }).toString()}`;
  return { status: 303, headers: { location } };
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:12vh auto;padding:0 1.5rem}
button{font:inherit;padding:.5rem 1.25rem;border-radius:.5rem;border:1px solid #555;background:#fff;color:#222}
button[value=allow]{background:#0b57d0;border-color:#0b57d0;color:#fff}`;
const styleHash = createHash('sha256').update(style).digest('base64');

const document = (title: string, content: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${style}</style></head><body><main>${content}</main></body></html>`;

/** @param formTarget origin that the answer to a form redirects to */
const policyOf = (formTarget: string): Readonly<Record<string, string>> => ({
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self' ${formTarget}; frame-ancestors 'none'; base-uri 'none'`,
  // With no-referrer, browsers send `Origin: null` with the form.
  'referrer-policy': 'same-origin',
});

/** The page with the buttons. Its form goes to the page's own address, so that nothing of the request stands in it. */
export const consentPage = ({ redirectUri }: Authorization): DemoAnswer => ({
  status: 200,
  headers: policyOf(new URL(redirectUri).origin),
  body: document(
    'Demo provider',
    `<h1>Demo provider</h1>
<p>Your gateway asks to read and change the made-up contacts of this demo account. Nothing leaves this machine.</p>
<form method="post"><button name="answer" value="allow">Allow</button> <button name="answer" value="deny">Deny</button></form>`,
  ),
});

export const welcomePage: DemoAnswer = {
  status: 200,
  headers: policyOf("'none'"),
  body: document(
    'Demo provider',
    `<h1>Demo provider</h1>
<p>A fake API of this gateway, for trying it without a network.</p>
<ul><li>GET /contacts?limit=100&amp;after=…</li><li>GET, PATCH and DELETE /contacts/{id}</li>
<li>PUT /webhook {"url": …}</li><li>GET /me</li></ul>
<p>One call in five to /contacts is answered 429 with Retry-After.</p>`,
  ),
};
