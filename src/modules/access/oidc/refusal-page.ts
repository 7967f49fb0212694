import type { RouteAnswer } from '#http/define-route.ts';
import { pageBundle } from '#http/page-bundle.ts';
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
  const style = (await bundle()).nameOf('style');
  const { code, message, details } = error;
  const fix = details.fix ?? errorHints[code];
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>You are not signed in</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/console/assets/${style}">
</head>
<body>
<main class="sign-in">
<div class="card stack">
<h1>You are not signed in</h1>
<p role="alert">${escapedMarkup(message)}</p>
<p>${escapedMarkup(fix)}</p>
<p><a class="button" href="${base}/console">Back to the sign-in</a></p>
<p class="muted">${escapedMarkup(code)}</p>
</div>
</main>
</body>
</html>
`;
  return {
    status: error.status,
    body: Buffer.from(html),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'set-cookie': clearedCookie(services, publicUrl),
    },
  };
}
