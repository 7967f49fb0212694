import { GatewayError } from '#kernel/errors.ts';
import { HttpFailure } from '#ports/http-client.ts';
import type { ModeContext } from '../credentials/modes/mode.ts';
import { authModeRules } from '../credentials/modes/registry.ts';
import type { Provider } from './definition.ts';
import { buildProviderRequest, type OpenedConnection, type OpenedIntegration } from './inject.ts';

const timeoutMs = 15_000;
const answerBytesMax = 1024 ** 2;
/** Whether the provider has verification endpoints for credentials of its mode. */
export const isVerifiable = ({ auth_mode: mode, proxy }: Provider): boolean =>
  proxy?.verification !== undefined && authModeRules[mode].isTested;

/**
 * Tries the credentials on the provider's verification endpoints, in order: any status from 200 to 299 passes. Without
 * endpoints every credential passes (docs/reference/auth-modes.md#verification).
 * @throws GatewayError `connection_test_failed`, or why the call cannot be built
 */
export async function verifyCredentials(
  { http, clock }: Pick<ModeContext, 'http' | 'clock'>,
  provider: Provider,
  connection: OpenedConnection,
  integration: OpenedIntegration,
): Promise<void> {
  const { verification } = provider.proxy ?? {};
  if (verification === undefined || !isVerifiable(provider)) return;
  let last = '';
  let status: number | null = null;
  for (const endpoint of verification.endpoints) {
    const request = buildProviderRequest({
      provider,
      connection,
      integration,
      now: clock.now(),
      method: verification.method ?? 'GET',
      endpoint,
      isEndpointTemplate: true,
      headers: verification.headers,
      data: verification.data,
      baseUrlOverride: verification.base_url_override,
    });
    try {
      const reply = await http.request({ ...request, timeoutMs, maxBytes: answerBytesMax });
      if (reply.status >= 200 && reply.status < 300) return;
      ({ status } = reply);
      last = `answered ${status}`;
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      status = null;
      last = `could not be reached (${error.code})`;
    }
  }
  const message = `The provider "${provider.name}" ${last} when the credentials were tried.`;
  const payload = { provider: { status, code: null } };
  throw new GatewayError('connection_test_failed', { message, payload });
}
