import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { connect } from '#adapters/threads/rpc.ts';
import { GatewayError } from '#kernel/errors.ts';

/** What the caller of a method in another thread gets, where the method throws that. */
async function acrossThreads(thrown: unknown): Promise<unknown> {
  const { port1, port2 } = new MessageChannel();
  connect(port2, {
    fail: () => {
      throw thrown;
    },
  });
  const peer = connect(port1);
  try {
    return await peer.call('fail', []).catch((error: unknown) => error);
  } finally {
    peer.close();
  }
}

const engineFailure = (): Error =>
  Object.assign(new Error('Checksum doesn’t match: corrupted data.'), { code: '40' });

describe('an error that passes between threads', () => {
  it('of the gateway keeps its cause, with the code of the engine', async () => {
    const cause = engineFailure();
    const error = await acrossThreads(new GatewayError('projection_unavailable', {}, { cause }));
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({
      code: 'projection_unavailable',
      cause: { name: 'Error', message: cause.message, code: '40', stack: cause.stack },
    });
  });

  it('keeps the codes of SQLite and of the system', async () => {
    const fields = { code: 'ERR_SQLITE_ERROR', errcode: 11, errstr: 'malformed', syscall: 'open' };
    expect(await acrossThreads(Object.assign(new Error('x'), fields))).toMatchObject(fields);
  });

  it('keeps every cause below it', async () => {
    const deepest = new TypeError('third', { cause: 'a reason that is no error' });
    const error = new Error('first', { cause: new Error('second', { cause: deepest }) });
    expect(await acrossThreads(error)).toMatchObject({
      message: 'first',
      cause: {
        message: 'second',
        cause: { name: 'TypeError', message: 'third', cause: 'a reason that is no error' },
      },
    });
  });

  it('keeps the errors that it sums up', async () => {
    const errors = [engineFailure(), new Error('another')];
    const error = await acrossThreads(new AggregateError(errors, 'all failed'));
    expect(error).toBeInstanceOf(AggregateError);
    expect(error).toMatchObject({
      message: 'all failed',
      errors: [{ code: '40' }, { message: 'another' }],
    });
  });

  it('whose causes form a circle arrives', async () => {
    const error = new Error('first');
    error.cause = new Error('second', { cause: error });
    expect(await acrossThreads(error)).toMatchObject({ cause: { message: 'second' } });
  });
});
