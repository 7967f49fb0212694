import { GatewayError } from '#kernel/errors.ts';
import type { FunctionsServices } from '../services.ts';

/** The oldest supported version of the CLI (docs/reference/http.md#headers). */
const oldest = '0.67.0';

/**
 * Refuses a deployment of a CLI that is newer than this service, or too old. Other clients are accepted.
 * @throws GatewayError `invalid_cli_version`
 */
export function checkCliVersion(
  userAgent: string | undefined,
  { settings }: Pick<FunctionsServices, 'settings'>,
): void {
  const [, sent] = /^svc-cli\/(\d+\.\d+\.\d+)/.exec(userAgent ?? '') ?? [];
  if (sent === undefined) return;
  const { version } = settings;
  if (isBefore(sent, oldest)) throw misfit(sent, `older than ${oldest}: use a newer one.`);
  if (isBefore(version, sent)) {
    throw misfit(sent, `newer than the service, which is ${version}: use one of its version.`);
  }
}

const misfit = (sent: string, why: string): GatewayError =>
  new GatewayError('invalid_cli_version', { message: `The command line ${sent} is ${why}` });

function isBefore(one: string, other: string): boolean {
  const others = other.split('.').map(Number);
  for (const [at, number] of one.split('.').map(Number).entries()) {
    const difference = number - (others[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
