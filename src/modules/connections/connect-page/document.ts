import type { RouteAnswer } from '#http/define-route.ts';
import { pageDocument } from '#http/page-document.ts';
import type { AddressSettings } from '#modules/access/services.ts';
import { pageAssets } from './assets.ts';
import type { CallbackOutcome } from './browser/callback-outcome.ts';

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
export function documentAnswer({ data, framedBy, ...page }: DocumentParts): RouteAnswer {
  const json = data === undefined ? '' : dataElement(data);
  return pageDocument({
    ...page,
    assets: '/connect/ui/assets/',
    body: `<div id="page"></div>\n<noscript>This page needs JavaScript.</noscript>\n${json}`,
    policy: policyOf(page.publicUrl, framedBy),
  });
}

/** A data block is never executed; `<` is escaped so that it cannot end the element. */
const dataElement = (data: unknown): string =>
  `<script type="application/json" id="data">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>\n`;

function policyOf(publicUrl: string, framedBy: readonly string[]): readonly string[] {
  const { origin } = new URL(publicUrl);
  const socket = origin.replace(/^http/, 'ws');
  const frames = framedBy.length === 0 ? ["'self'"] : framedBy;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: ${origin}`,
    `connect-src 'self' ${socket}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frames.join(' ')}`,
  ];
}

/**
 * The document that ends a flow at a provider (docs/reference/http.md#sign-in-by-redirect): it sends the outcome to the
 * page that started the flow, and closes or returns to that page. Never framed.
 */
export async function callbackAnswer(
  outcome: CallbackOutcome,
  { settings }: { readonly settings: AddressSettings },
): Promise<RouteAnswer> {
  const { callbackScript, style } = await pageAssets();
  return documentAnswer({
    status: outcome.ok ? 200 : 400,
    title: 'Connect',
    script: callbackScript,
    style,
    data: outcome,
    publicUrl: settings.publicUrl,
    framedBy: ["'none'"],
  });
}
