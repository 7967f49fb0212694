import { GatewayError, type Issue } from '#kernel/errors.ts';
import { isJsonObject, objectOf, type Json } from '#kernel/stable-json.ts';
import { invalidCodes, type RunFailure } from '#ports/sandbox.ts';
import { placeText, type FailureDetail } from './failure-detail.ts';

/**
 * The error of a failed run for its caller (docs/reference/functions.md#actions). The body of an ActionError is `{
 * error_type, payload }`. The lines of its stack are those of the user's source.
 */
export function callerError(failure: RunFailure, detail: FailureDetail): GatewayError {
  const { kind, message, payload, upstream } = failure;
  switch (kind) {
    case 'action_error':
      return new GatewayError('action_script_failure', { message, payload: payload ?? {} });
    case 'http':
      return new GatewayError('script_http_error', { message, payload, upstream });
    case 'network':
      return new GatewayError('script_network_error', {
        message,
        payload: thrown(failure, detail),
      });
    case 'invalid': {
      const code = invalidCodes.find((one) => one === failure.code) ?? 'script_internal_error';
      const { violations, ...shown } = objectOf(payload ?? null);
      const errors = issuesOf(violations);
      return new GatewayError(code, {
        message,
        payload: errors.length === 0 ? shown : { ...shown, errors: errors.map(issueText) },
        ...(errors.length === 0 ? {} : { errors }),
      });
    }
    case 'error':
      return new GatewayError('script_internal_error', {
        message,
        payload: thrown(failure, detail),
      });
    case 'aborted':
      return new GatewayError('script_aborted');
    case 'timeout':
      return new GatewayError('execution_timeout', { message });
    case 'memory':
      return new GatewayError('function_runtime_out_of_memory');
    case 'output_too_large':
      return new GatewayError('script_output_too_large');
    case 'limit':
      return new GatewayError('function_runtime_other', { message });
    case 'interrupted':
      return new GatewayError('run_interrupted');
  }
}

/** Of what a function reports: those of the expected shape. */
function issuesOf(violations: Json | undefined): Issue[] {
  if (!Array.isArray(violations)) return [];
  return violations.flatMap((one: Json) => {
    if (!isJsonObject(one)) return [];
    const { code, message, path } = one;
    if (typeof code !== 'string' || typeof message !== 'string' || !Array.isArray(path)) return [];
    return [{ code, message, path: path.map(String) }];
  });
}

const issueText = ({ path, message }: Issue): string =>
  path.length === 0 ? message : `${path.join('.')}: ${message}`;

function thrown({ name, code, message }: RunFailure, { frames }: FailureDetail): object {
  return {
    name,
    ...(code === undefined ? {} : { code }),
    message,
    ...(frames.length === 0 ? {} : { stacktrace: frames.map(frameText) }),
  };
}

/** As in a stack: `at exec (crm/actions/create.ts:12:5)`. */
export const frameText = (frame: FailureDetail['frames'][number]): string =>
  frame.function === null ? `at ${placeText(frame)}` : `at ${frame.function} (${placeText(frame)})`;
