import type { RouteAnswer } from '#http/define-route.ts';
import { pageDocument } from '#http/page-document.ts';

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
];

/** The document of the console, the same for all of its pages. */
export function documentAnswer(parts: {
  /** Names of the files of the two entries. */
  readonly script: string;
  readonly style: string;
  /** A proxy may serve the console below a path. */
  readonly publicUrl: string;
}): RouteAnswer {
  return pageDocument({
    ...parts,
    status: 200,
    title: 'Console',
    assets: '/console/assets/',
    body: '<div id="app"></div>\n<noscript>The console needs JavaScript.</noscript>\n',
    policy,
    headers: { 'cross-origin-opener-policy': 'same-origin', 'x-frame-options': 'DENY' },
  });
}
