import type { RouteAnswer } from '../../../http/define-route.ts';
import { withoutTrailingSlashes } from '../../../kernel/trailing-slashes.ts';

/**
 * Nothing inline, nothing of another host, no frame around it: the session of this page acts for keys. `data:` is for
 * logos.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The document of the console, the same for all of its pages. */
export function documentAnswer(parts: {
  /** Names of the files of the two entries. */
  readonly script: string;
  readonly style: string;
  /** A proxy may serve the console below a path. */
  readonly publicUrl: string;
}): RouteAnswer {
  const assets = `${withoutTrailingSlashes(new URL(parts.publicUrl).pathname)}/console/assets/`;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}${parts.style}">
<script type="module" src="${assets}${parts.script}"></script>
</head>
<body>
<div id="app"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;
  return {
    status: 200,
    body: Buffer.from(html),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
    },
  };
}
