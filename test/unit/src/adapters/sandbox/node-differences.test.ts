import { readFileSync } from 'node:fs';
import { runInThisContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { outputOf } from './guest.ts';

const sandbox = await sharedSandbox();

/** The value of the expression in the sandbox, and in Node. */
async function both(expression: string): Promise<{ guest: unknown; node: unknown }> {
  const guest = await outputOf(sandbox, `const lib = req; return (${expression});`, {
    head: 'const req = require;',
  });
  const run = runInThisContext(`(lib) => (async () => (${expression}))()`) as (
    lib: (name: string) => unknown,
  ) => Promise<unknown>;
  const node = (await run((name) => process.getBuiltinModule(name))) ?? null;
  return { guest: guest ?? null, node: JSON.parse(JSON.stringify(node)) };
}

const thrown = (statement: string, ...fields: string[]): string =>
  `(() => { try { ${statement}; } catch (error) { return [${fields.map((field) => `error.${field}`).join(', ')}]; } })()`;

describe('the same in a function and in Node', () => {
  it.each([
    `await new Promise((resolve) => queueMicrotask(() => resolve('ran')))`,
    `await (async () => { const order = []; Promise.resolve().then(() => order.push(1)); queueMicrotask(() => order.push(2)); await new Promise((resolve) => setTimeout(resolve, 1)); return order; })()`,
    thrown('queueMicrotask(1)', 'name'),
    `[new DOMException('m', 'AbortError').code, new DOMException('m').name, new DOMException('m', 'x').code, new DOMException('m') instanceof Error, String(new DOMException('m', 'AbortError'))]`,
    `new DOMException('m', { name: 'TimeoutError', cause: 1 }).cause`,
    `[AbortSignal.abort().reason.name, AbortSignal.abort().reason.code, AbortSignal.abort().reason.message, AbortSignal.abort().reason instanceof DOMException]`,
    `await new Promise((resolve) => { const signal = AbortSignal.timeout(1); signal.onabort = () => resolve([signal.reason.name, signal.reason.code]); })`,
    `(() => { const controller = new AbortController(); const any = AbortSignal.any([controller.signal]); controller.abort('why'); return [any.aborted, any.reason]; })()`,
    thrown(`atob('*')`, 'name', 'code', 'message'),
    thrown(`btoa('\u2713')`, 'name', 'code', 'message'),
    thrown('structuredClone(() => 1)', 'name', 'code', 'message'),
    thrown(`new URL('x')`, 'name', 'code', 'message'),
    thrown(`new Headers({ 'a b': '1' })`, 'name'),
    thrown(`new Headers().get('')`, 'name'),
    thrown('undefinedName', 'name', 'message'),
    `[/^[0-9a-f-]{36}$/.test(crypto.randomUUID()), crypto.getRandomValues(new Uint8Array(4)).length]`,
    `typeof performance.now() + typeof performance.timeOrigin`,
    `(() => { const before = performance.now(); return performance.now() >= before; })()`,
    `typeof Error.captureStackTrace + Error.stackTraceLimit`,
    `(() => { const target = {}; Error.captureStackTrace(target); return typeof target.stack; })()`,
    `new Intl.NumberFormat('de-DE').format(1234.5)`,
    `new Date(0).toLocaleString('en-US', { timeZone: 'Asia/Tokyo' })`,
    `await new Promise((resolve) => setTimeout((a, b) => resolve([a, b]), 0, 1, 2))`,
    `[clearTimeout(undefined), clearTimeout('x')].length`,
    `structuredClone(new Map([[1, { at: new Date(0) }]])).get(1).at instanceof Date`,
    `[...new URLSearchParams('a=1&a=2')]`,
    `[URL.canParse('x:y'), URL.parse('nope')]`,
    `[typeof Array.fromAsync, typeof Promise.try, typeof Iterator, typeof RegExp.escape, typeof DisposableStack]`,
    `[new Blob(['é']).size, await new Blob(['é']).text()]`,
  ])('%s', async (expression) => {
    const { guest, node } = await both(expression);
    expect(guest).toEqual(node);
  });
});

/** Every row of the list in the reference: its first column, an expression that shows it, and its value in a function. */
const differences: readonly [string, string, unknown][] = [
  ...['process', 'global', 'fetch', 'Request', 'Response', 'Event', 'EventTarget', 'File'].map(
    (name): [string, string, unknown] => [name, `typeof ${name}`, 'undefined'],
  ),
  ...['setInterval', 'setImmediate', 'ReadableStream', 'WebSocket', 'MessageChannel'].map(
    (name): [string, string, unknown] => [name, `typeof ${name}`, 'undefined'],
  ),
  ['crypto.subtle', 'typeof crypto.subtle', 'undefined'],
  ['createCipheriv', `typeof lib('crypto').createCipheriv`, 'undefined'],
  ['setTimeout', 'typeof setTimeout(() => 1, 0)', 'number'],
  ['console', 'Object.keys(console).length', 0],
  ['eval', 'typeof eval', 'undefined'],
  ['WebAssembly', 'typeof WebAssembly', 'undefined'],
  ['Blob.stream', 'typeof new Blob([]).stream', 'undefined'],
  ['URL.createObjectURL', 'typeof URL.createObjectURL', 'undefined'],
  ['Time zone', 'Intl.DateTimeFormat().resolvedOptions().timeZone', 'UTC'],
];

describe('a difference from Node', () => {
  const page = readFileSync('docs/reference/functions.md', 'utf8');
  const section = page.split('### Differences from Node')[1]?.split('\n#')[0] ?? '';
  const named = new Set(
    section.match(/`[^`]+`|Time zone/g)?.map((name) => name.replaceAll('`', '')),
  );

  it.each(differences)('%s is as the reference lists it', async (name, expression, expected) => {
    expect(named).toContain(name);
    expect((await both(expression)).guest).toEqual(expected);
  });
});
