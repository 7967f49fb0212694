import type { RouteAnswer } from '#http/define-route.ts';
import { pageBundle } from '#http/page-bundle.ts';
import { pageDocument } from '#http/page-document.ts';
import { errorHints } from '#kernel/error-hints.ts';
import type { GatewayError } from '#kernel/errors.ts';
import { escapedMarkup } from '#kernel/markup.ts';
import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';
import type { AccessServices } from '../services.ts';
import { clearedCookie } from './sign-in-state.ts';

const bundle = pageBundle('console');

/** Nothing runs on it; the style is that of the console. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
];

/** Why nobody was signed in, what helps, and the way back. */
export async function refusalPage(
  error: GatewayError,
  services: AccessServices,
): Promise<RouteAnswer> {
  const { publicUrl } = services.settings;
  const base = withoutTrailingSlashes(new URL(publicUrl).pathname);
  const { code, message, details } = error;
  return pageDocument({
    status: error.status,
    title: 'You are not signed in',
    publicUrl,
    assets: '/console/assets/',
    script: null,
    style: (await bundle()).nameOf('style'),
    body: `<main class="sign-in">
<div class="card stack">
<h1>You are not signed in</h1>
<p role="alert">${escapedMarkup(message)}</p>
<p>${escapedMarkup(details.fix ?? errorHints[code])}</p>
<p><a class="button" href="${base}/console">Back to the sign-in</a></p>
<p class="muted">${escapedMarkup(code)}</p>
</div>
</main>
`,
    policy,
    headers: { 'x-frame-options': 'DENY', 'set-cookie': clearedCookie(services, publicUrl) },
  });
}
