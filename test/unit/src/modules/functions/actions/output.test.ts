import { describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import { outputJson, readOutput } from '#modules/functions/actions/output.ts';

const thrownBy = (read: () => unknown): GatewayError => {
  try {
    read();
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('nothing was thrown');
};

describe('the body that an action leaves behind', () => {
  it.each(['{"a":1}', '"text"', '0', 'null', undefined])('gives back the output %s', (output) => {
    const expected: unknown = output === undefined ? undefined : JSON.parse(output);
    expect(readOutput(outputJson({ output }))).toEqual(expected);
  });

  it('gives back the error with payload and upstream', () => {
    const upstream = { status: 403, headers: {}, body: { no: true } };
    const error = new GatewayError('script_http_error', {
      message: 'm',
      payload: { no: true },
      upstream,
    });
    const back = thrownBy(() => readOutput(outputJson({ error })));
    expect(back.toJSON()).toEqual(error.toJSON());
  });

  it('§16 error payload: whole properties over 99 kB are left out, the largest first', () => {
    const payload = { large: 'x'.repeat(100_000), small: 1 };
    const error = new GatewayError('action_script_failure', { payload });
    const back = thrownBy(() => readOutput(outputJson({ error })));
    expect(back.details.payload).toEqual({ small: 1 });
  });
});
