import type { RouteAnswer } from '#http/define-route.ts';
import type { ConnectionsServices } from '../services.ts';
import { pageAssets } from './assets.ts';
import type { CallbackOutcome } from './browser/callback-outcome.ts';
import { documentAnswer } from './document.ts';

/**
 * The document that ends a flow at a provider (docs/reference/http.md#sign-in-by-redirect): it sends the outcome to the
 * page that started the flow, and closes or returns to that page. Never framed.
 */
export async function callbackAnswer(
  outcome: CallbackOutcome,
  { settings }: Pick<ConnectionsServices, 'settings'>,
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
