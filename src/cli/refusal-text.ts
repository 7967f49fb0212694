import type { ApiError } from '#client/index.ts';
import { printable, printableLines } from '#kernel/printable.ts';
import { objectOf } from '#kernel/stable-json.ts';

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
export function refusalText({ code, message, fix, body }: ApiError): string {
  const todo = ownWays[code] ?? fix;
  return [
    `${printableLines(message)} (${code})`,
    ...runLines(body),
    ...(todo === null ? [] : [todo]),
  ].join('\n  ');
}

/** Of a connection that fails: the command that shows why. */
function connectionLines(connection: unknown): string[] {
  const { errors } = objectOf(connection);
  if (!Array.isArray(errors)) return [];
  const { type, log_id: logId } = objectOf(errors.at(-1));
  const command = type === 'sync' ? 'svc runs show' : 'svc logs';
  return typeof logId === 'string' ? [`More: ${command} ${printable(logId)}`] : [];
}

/** Of a function that failed: where, and the command that shows more. */
function runLines(body: unknown): string[] {
  const { failure, payload, run_id: runId } = objectOf(objectOf(body)['error']);
  const { location } = objectOf(failure);
  return [
    ...(typeof location === 'string' ? [`at ${printable(location)}`] : []),
    ...(typeof runId === 'string' ? [`More: svc runs show ${printable(runId)}`] : []),
    ...connectionLines(objectOf(payload)['connection']),
  ];
}
