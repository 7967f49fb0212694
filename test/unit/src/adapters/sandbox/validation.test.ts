import { describe, expect, it } from 'vitest';
import type { FunctionType, ValidationMode } from '#ports/sandbox.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { recording, runBundle } from './guest.ts';

const sandbox = await sharedSandbox();

const schemas = `
  input: z.object({ name: z.string() }),
  output: z.object({ at: z.date() }),
  models: { Contact: z.object({ id: z.string(), name: z.string(), born: z.date().optional() }) },
  metadata: z.object({ plan: z.string(), seats: z.number().optional() }),
  checkpoint: z.object({ page: z.number() }),`;

interface Asked {
  readonly type?: FunctionType;
  readonly mode: ValidationMode;
  /** As `mode` if absent. */
  readonly inputMode?: ValidationMode;
  readonly input?: unknown;
}

/** How a function with these schemas ended, and the lines of its log. */
async function runWith(exec: string, asked: Asked) {
  const { type = 'sync', mode: validation, inputMode: inputValidation = validation, input } = asked;
  const { host, asked: calledHost } = recording({
    batchSave: null,
    batchUpdate: null,
    batchDelete: null,
    setMetadata: null,
    updateMetadata: null,
    saveCheckpoint: null,
    log: null,
  });
  const bundle = `const { z } = require('zod');
    exports.default = { type: '${type}', ${schemas} exec: async (svc, input) => { ${exec} } };`;
  const result = await runBundle(sandbox, bundle, {
    type,
    host,
    input,
    context: { validation, inputValidation },
  });
  const lines = calledHost
    .filter(({ method }) => method === 'log')
    .flatMap(({ args }) => (args as { lines: { level: string; message: string }[] }).lines);
  const calls = calledHost.map(({ method }) => method).filter((method) => method !== 'log');
  return { result, lines: lines.map(({ level, message }) => `${level}: ${message}`), calls };
}

const saving = `
  await svc.batchSave([{ id: '1', name: 'a', born: new Date(0) }, { id: '2', name: 2 }], 'Contact');
  await svc.batchSave([{ id: '3' }, { id: '4', name: 'd', extra: true }], 'Contact');`;

describe('records that do not fit their model', () => {
  it('§7.1 validation: records that do not fit are saved and counted in one line, where that is wanted', async () => {
    const { result, lines, calls } = await runWith(saving, { mode: 'warn' });
    expect(result.status).toBe('ok');
    expect(calls).toEqual(['batchSave', 'batchSave']);
    expect(lines).toEqual([
      'warn: Validation: 3 records of Contact do not fit the schema: ' +
        'name: Invalid input: expected string, received number; ' +
        'name: Invalid input: expected string, received undefined; Unrecognized key: "extra"',
    ]);
  });

  it('are nobody’s concern where that is wanted', async () => {
    const { result, lines, calls } = await runWith(saving, { mode: 'off' });
    expect([result.status, lines, calls]).toEqual(['ok', [], ['batchSave', 'batchSave']]);
  });

  it('fail the call and, uncaught, the run', async () => {
    const { result, calls } = await runWith(saving, { mode: 'error' });
    expect(result).toMatchObject({
      status: 'error',
      error: {
        kind: 'invalid',
        code: 'invalid_sync_record',
        message:
          'Invalid records of Contact: name: Invalid input: expected string, received number',
        payload: { value: { id: '2', name: 2 } },
      },
    });
    expect(calls).toEqual([]);
    const caught = `try { ${saving} } catch (error) { if (error.code !== 'invalid_sync_record') throw error; }`;
    expect((await runWith(caught, { mode: 'error' })).result.status).toBe('ok');
  });

  it('may lack what an update leaves alone, and all but the id when they go', async () => {
    const fine = `await svc.batchUpdate([{ id: '1' }], 'Contact'); await svc.batchDelete([{ id: '1' }], 'Contact');`;
    expect((await runWith(fine, { mode: 'error' })).result.status).toBe('ok');
    const wrong = `await svc.batchUpdate([{ id: '1', name: 5 }], 'Contact');`;
    expect((await runWith(wrong, { mode: 'error' })).result.status).toBe('error');
  });
});

describe('inputs and outputs of actions', () => {
  const ok = `return { at: new Date() };`;
  it.each([
    ['a wrong input', ok, { name: 1 }, 'invalid_action_input'],
    ['no input', ok, undefined, 'invalid_action_input'],
    ['a wrong output', `return { at: 5 };`, { name: 'a' }, 'invalid_action_output'],
    ['no output', ``, { name: 'a' }, 'invalid_action_output'],
    ['what fits', ok, { name: 'a' }, null],
  ])('%s', async (_what, exec, input, code) => {
    const { result } = await runWith(exec, { type: 'action', mode: 'error', input });
    expect(result.status === 'error' ? result.error.code : null).toBe(code);
    const lenient = await runWith(exec, { type: 'action', mode: 'warn', input });
    expect([lenient.result.status, lenient.lines.length]).toEqual(['ok', code === null ? 0 : 1]);
  });
});

describe('an input that is refused where other values are only logged', () => {
  it('is named by path, with what is expected, and the output is still only logged', async () => {
    const modes = { type: 'action', mode: 'warn', inputMode: 'error' } as const;
    const refused = await runWith(`return { at: 5 };`, { ...modes, input: { name: 1 } });
    expect(refused.result).toMatchObject({
      error: {
        code: 'invalid_action_input',
        message: 'Invalid inputs: name: Invalid input: expected string, received number',
        payload: { violations: [{ code: 'invalid_type', path: ['name'] }] },
      },
    });
    const { result, lines } = await runWith(`return { at: 5 };`, {
      ...modes,
      input: { name: 'a' },
    });
    expect([result.status, lines.length]).toEqual(['ok', 1]);
  });
});

describe('metadata and checkpoints that are written', () => {
  it.each([
    [`await svc.setMetadata({ plan: 1 });`, 'invalid_metadata'],
    [`await svc.setMetadata({ seats: 1 });`, 'invalid_metadata'],
    [`await svc.updateMetadata({ seats: 'x' });`, 'invalid_metadata'],
    [`await svc.updateMetadata({ seats: 1 });`, null],
    [`await svc.saveCheckpoint({ page: 'one' });`, 'invalid_checkpoint'],
    [`await svc.saveCheckpoint({ page: 1 });`, null],
  ])('%s', async (exec, code) => {
    const { result } = await runWith(exec, { mode: 'error' });
    expect(result.status === 'error' ? result.error.code : null).toBe(code);
  });
});

it('what a function says of itself is not taken for a check', async () => {
  const exec = `throw Object.assign(new Error('x'), { code: 'invalid_action_input' });`;
  const { result } = await runWith(exec, { type: 'action', mode: 'off' });
  expect(result).toMatchObject({ status: 'error', error: { kind: 'error' } });
});
