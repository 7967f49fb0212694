import type { ApiError } from './client.ts';

const makeIt = 'Make it with svc connect <integration> --provider <provider>.';

/** What to do where the command line has a way of its own. */
const ownWays: Readonly<Record<string, string>> = {
  integration_not_found: makeIt,
  unknown_provider_config: makeIt,
};

/** The service's refusal for a person: its words, its code, and below them what to do about it. */
export function refusalText({ code, message, fix }: ApiError): string {
  const todo = ownWays[code] ?? fix;
  return `${message} (${code})${todo === null ? '' : `\n  ${todo}`}`;
}
