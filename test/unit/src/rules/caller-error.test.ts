import { expect, it } from 'vitest';
import type { FailureKind, RunFailure } from '#ports/sandbox.ts';
import { callerError } from '#rules/caller-error.ts';
import { locateFailure } from '#rules/locate-failure.ts';

const failure = (kind: FailureKind, more: Partial<RunFailure> = {}): RunFailure => ({
  kind,
  name: 'TypeError',
  message: 'why',
  ...more,
});

const code = { bundle: '', fileName: 'f.cjs', entry: { file: 'f.ts', source: '' } };
const errorOf = (failed: RunFailure) => callerError(failed, locateFailure(failed, code));

it.each<[FailureKind, string, number]>([
  ['action_error', 'action_script_failure', 424],
  ['http', 'script_http_error', 424],
  ['network', 'script_network_error', 424],
  ['error', 'script_internal_error', 424],
  ['aborted', 'script_aborted', 410],
  ['timeout', 'execution_timeout', 504],
  ['memory', 'function_runtime_out_of_memory', 424],
  ['output_too_large', 'script_output_too_large', 424],
  ['limit', 'function_runtime_other', 424],
  ['interrupted', 'run_interrupted', 503],
])('%s is answered as %s, %i', (kind, code, status) => {
  expect(errorOf(failure(kind))).toMatchObject({ code, status });
});

it('an ActionError carries its payload', () => {
  expect(errorOf(failure('action_error', { payload: { a: 1 } })).details.payload).toEqual({
    a: 1,
  });
  expect(errorOf(failure('action_error')).details.payload).toEqual({});
});

it('an error of the provider carries what it said', () => {
  const upstream = { status: 422, headers: { 'content-type': 'text/plain' }, body: 'no' };
  const { details } = errorOf(failure('http', { payload: { message: 'no' }, upstream }));
  expect(details).toMatchObject({ payload: { message: 'no' }, upstream });
});

it('any other throw carries name, code, message and lines of the function', () => {
  const { details } = errorOf(
    failure('error', { code: 'E', stack: '    at a (f.cjs:1:2)\n    at b (f.cjs:3:4)' }),
  );
  expect(details.payload).toEqual({
    name: 'TypeError',
    code: 'E',
    message: 'why',
    stacktrace: ['at a (f.cjs:1:2)', 'at b (f.cjs:3:4)'],
  });
});
