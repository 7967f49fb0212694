import type { QueryValue } from '../../../http/query.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import type { ModeContext } from '../credentials/modes/mode.ts';
import { addressOf, tokenValues } from '../credentials/modes/token-request.ts';

/**
 * Refuses a callback that does not come from the authorization server the person was sent to (RFC 9207 section
 * 2.4): neither its code nor its error is that server's. Without an issuer in the definition there is nothing to
 * compare with, and `iss` is ignored.
 * @param iss of the callback; a list or an object where it came more than once
 * @throws GatewayError `invalid_callback`; `missing_api_url`: the template of the issuer cannot be filled in
 */
export function checkIssuer(iss: QueryValue | undefined, context: ModeContext): void {
  const { provider } = context;
  const { authorization_issuer: template } = provider;
  if (template === undefined) return;
  const values = tokenValues(context, null);
  const expected = addressOf(provider, 'authorization_issuer', template, values);
  if (iss === expected) return;
  const message = `The issuer of the provider "${provider.name}" is ${expected}, and the callback names ${named(iss)}.`;
  throw new GatewayError('invalid_callback', { message });
}

/** The received value is shown only if it is an address, because the sender of the callback chose it. */
function named(iss: QueryValue | undefined): string {
  if (iss === undefined) return 'no issuer';
  if (typeof iss !== 'string') return 'several';
  return /^https?:\/\/[\w.:/~-]{1,200}$/.test(iss) ? iss : 'another';
}
