import type { RouteAnswer } from '../../../http/define-route.ts';
import { withoutTrailingSlashes } from '../../../kernel/trailing-slashes.ts';

/** The parts of a document of this module. */
export interface DocumentParts {
  readonly status: number;
  readonly title: string;
  readonly script: string;
  readonly style: string;
  /** Passed to the script as JSON; may contain untrusted text. */
  readonly data?: unknown;
  /** Public address of the service, for logos and the socket. */
  readonly publicUrl: string;
  /** Origins whose pages may frame the document; `*` = any. */
  readonly framedBy: readonly string[];
}

/** A document without inline code, whose policy allows requests only to this service. */
export function documentAnswer(parts: DocumentParts): RouteAnswer {
  const { title, script, style, data } = parts;
  const pagePath = `${withoutTrailingSlashes(new URL(parts.publicUrl).pathname)}/connect/ui/`;
  const json = data === undefined ? '' : dataElement(data);
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${pagePath}assets/${style}">
<script type="module" src="${pagePath}assets/${script}"></script>
</head>
<body>
<div id="page"></div>
<noscript>This page needs JavaScript.</noscript>
${json}</body>
</html>
`;
  return { status: parts.status, body: Buffer.from(html), headers: headersOf(parts) };
}

/** A data block is never executed; `<` is escaped so that it cannot end the element. */
const dataElement = (data: unknown): string =>
  `<script type="application/json" id="data">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>\n`;

function headersOf({ publicUrl, framedBy }: DocumentParts): Record<string, string> {
  const { origin } = new URL(publicUrl);
  const socket = origin.replace(/^http/, 'ws');
  const frames = framedBy.length === 0 ? ["'self'"] : framedBy;
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: ${origin}`,
    `connect-src 'self' ${socket}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frames.join(' ')}`,
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'referrer-policy': 'no-referrer',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    'cache-control': 'no-store',
  };
}
