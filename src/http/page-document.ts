import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';
import type { RouteAnswer } from './define-route.ts';

export interface PageDocument {
  readonly status: number;
  readonly title: string;
  /** Address of the service: a proxy may serve the page below a path. */
  readonly publicUrl: string;
  /** Folder of the files, such as `/console/assets/`. */
  readonly assets: string;
  /** Null: nothing runs on the page. */
  readonly script: string | null;
  readonly style: string;
  /** HTML, at the end of the head. */
  readonly head?: string;
  /** HTML; the caller escapes what others wrote. */
  readonly body: string;
  /** Directives of the content security policy. */
  readonly policy: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A document whose code and style are files of this service: nothing is inline, nothing is kept. */
export function pageDocument(page: PageDocument): RouteAnswer {
  const assets = withoutTrailingSlashes(new URL(page.publicUrl).pathname) + page.assets;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${page.title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}${page.style}">
${page.script === null ? '' : `<script type="module" src="${assets}${page.script}"></script>\n`}${page.head ?? ''}</head>
<body>
${page.body}</body>
</html>
`;
  return {
    status: page.status,
    body: Buffer.from(html),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': page.policy.join('; '),
      'referrer-policy': 'no-referrer',
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
      'cache-control': 'no-store',
      ...page.headers,
    },
  };
}
