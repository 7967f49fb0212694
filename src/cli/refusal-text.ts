import type { ApiError } from '#client/index.ts';
import { printableLines } from '#kernel/printable.ts';

const makeIt =
  'Create it with svc connect <integration> --provider <provider>, or name its provider in svc.integrations of package.json and deploy.';

const correct = 'Correct what is named here, then run the command again.';

/** Fixes that are specific to the command line. */
const ownWays: Readonly<Record<string, string>> = {
  integration_not_found: makeIt,
  unknown_provider_config: makeIt,
  invalid_body: correct,
  invalid_query_params: correct,
  invalid_headers: correct,
  invalid_uri_params: correct,
  unreachable: 'Start the service, or name its address in SVC_HOSTPORT.',
};

/** The service's refusal as readable text: message, code, and below them the fix. */
export function refusalText({ code, message, fix }: ApiError): string {
  const todo = ownWays[code] ?? fix;
  return `${printableLines(message)} (${code})${todo === null ? '' : `\n  ${todo}`}`;
}
