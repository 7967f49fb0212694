import type { GuestOptions } from './guest.ts';

/** A function that means harm, and how its run must end. */
export interface Hostile {
  readonly name: string;
  /** The body of `exec`. An attack on the realm returns what it reached: `held` when that is nothing. */
  readonly body: string;
  readonly head?: string;
  readonly limits?: GuestOptions['limits'];
  readonly ends:
    | { readonly output: unknown }
    | { readonly kind: readonly string[]; readonly message?: RegExp };
}

const held = { output: 'held' } as const;
const failed = { kind: ['error'] } as const;
const outOfTime = { kind: ['timeout'] } as const;
const outOfMemory = { kind: ['memory'] } as const;

/** Statements that try a maker of functions; the body goes on where it is refused. */
const tryMaker = (maker: string): string =>
  `try { return String((${maker})('return typeof process')()); } catch (error) { if (!(error instanceof EvalError)) throw error; } return 'held';`;

/** What gives a place of the host away in a text. */
const hostWords = String.raw`/node_modules|file:\/\/|node:internal|\/src\/|isolated|\.ts\b/`;

const escapes: readonly Hostile[] = [
  {
    name: 'the constructor of a method of the handle makes code',
    body: tryMaker('svc.get.constructor'),
    ends: held,
  },
  {
    name: 'the constructor of what a call to the host returns makes code',
    body: tryMaker('svc.getCheckpoint().constructor.constructor'),
    ends: held,
  },
  {
    name: 'the constructor of an error of the host makes code',
    body: `let caught; try { await svc.saveCheckpoint({}); } catch (error) { caught = error; } ${tryMaker('caught.constructor.constructor')}`,
    ends: held,
  },
  {
    name: 'the constructor of the injected ActionError makes code',
    body: tryMaker('Object.getPrototypeOf(svc.ActionError).constructor'),
    ends: held,
  },
  {
    name: 'a class that extends Function makes code',
    body: tryMaker(
      '(class extends Function { constructor(text) { super(text); } })'
        .replace('(class', '(text) => new (class')
        .replace(' })', ' })(text)'),
    ),
    ends: held,
  },
  {
    name: 'Reflect.construct makes code in the realm of another constructor',
    body: tryMaker('(text) => Reflect.construct(Function, [text], svc.ActionError)'),
    ends: held,
  },
  {
    name: 'eval, indirect',
    body: `try { return String((0, globalThis.eval)('typeof process')); } catch { return 'held'; }`,
    ends: held,
  },
  {
    name: 'a timer with text for code',
    body: `try { setTimeout('globalThis.ran = 1', 0); } catch (error) { return error instanceof TypeError ? 'held' : String(error); } return 'taken';`,
    ends: held,
  },
  {
    name: 'WebAssembly, shared memory, a realm of its own',
    body: `return ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'ShadowRealm'].filter((name) => name in globalThis).join() || 'held';`,
    ends: held,
  },
  {
    name: 'modules of the host by name, path and prefix',
    head: 'const load = require;',
    body: `
      const names = ['fs', 'node:fs', 'child_process', 'node:child_process', 'worker_threads', 'vm', 'isolated-vm', 'process',
        'node:inspector', 'net', 'module', '/etc/passwd', '../../package.json', './child.ts', 'file:///etc/passwd', '__proto__', 'constructor'];
      return names.filter((name) => { try { load(name); return true; } catch { return false; } }).join() || 'held';`,
    ends: held,
  },
  {
    name: 'modules of the host by import()',
    body: `const tried = await Promise.allSettled(['fs', 'node:fs', 'file:///etc/passwd', 'data:text/javascript,1'].map((name) => import(name)));
      return tried.some(({ status }) => status === 'fulfilled') ? 'imported' : 'held';`,
    ends: held,
  },
  {
    name: 'what hangs on require and module',
    head: 'const load = require; const mod = typeof module === "undefined" ? {} : module;',
    body: `return [load.cache, load.main, load.resolve, load.extensions, mod.parent, mod.children, mod.constructor === Object ? undefined : mod.constructor]
      .some((found) => found !== undefined) ? 'reached' : 'held';`,
    ends: held,
  },
  {
    name: 'call sites of the stack give functions and receivers of the host',
    body: `
      const found = [];
      Error.prepareStackTrace = (_, sites) => sites.map((site) => [site.getThis?.(), site.getFunction?.()]);
      const look = () => { for (const pair of [new Error('x').stack].flat()) found.push(...[pair].flat()); };
      await svc.getCheckpoint({ get a() { look(); return 1; }, toJSON() { look(); return {}; } });
      look();
      const own = (value) => value === undefined || value === null || value === globalThis || typeof value === 'string' || Function.prototype.toString.call(value).includes('svc');
      return found.every((value) => { try { return own(value) || !/process|isolate/i.test(String(value.constructor)); } catch { return true; } }) ? 'held' : 'reached';`,
    ends: held,
  },
  {
    name: 'the stack of an error names files of the host',
    body: `
      const stacks = [new Error('x').stack];
      try { await svc.saveCheckpoint({}); } catch (error) { stacks.push(error.stack); }
      await svc.setMetadata({ get a() { stacks.push(new Error('y').stack); return 1; } });
      return ${hostWords}.test(stacks.join()) ? stacks.join() : 'held';`,
    ends: held,
  },
  {
    name: 'the source of functions of the runtime names files of the host',
    body: `return ${hostWords}.test(Object.keys(svc).map((name) => String(svc[name])).join()) ? 'reached' : 'held';`,
    ends: held,
  },
  {
    name: 'callers of callbacks',
    body: `
      const callers = [];
      function peek() { try { callers.push(peek.caller, peek.arguments?.callee?.caller); } catch {} return {}; }
      await svc.setMetadata({ toJSON: peek });
      await new Promise((resolve) => setTimeout(() => { peek(); resolve(); }, 0));
      return callers.some((caller) => typeof caller === 'function' && !String(caller).includes('peek')) ? 'reached' : 'held';`,
    ends: held,
  },
  {
    name: 'a proxy as an argument sees objects of the host',
    body: `
      const seen = [];
      const spy = new Proxy({ a: 1 }, new Proxy({}, { get: (_, trap) => (...args) => { seen.push(...args); return Reflect[trap](...args); } }));
      await svc.setMetadata(spy);
      return seen.some((value) => { try { return typeof value === 'function' && typeof value.constructor('return process') === 'function'; } catch { return false; } }) ? 'reached' : 'held';`,
    ends: held,
  },
  {
    name: 'a thenable as a result is given a function of the host',
    body: `return { then(resolve) { let made = 'held'; try { made = String(resolve.constructor('return typeof process')()); } catch {} resolve(made); } };`,
    ends: held,
  },
  {
    name: 'a changed Promise sees what settles the calls',
    body: `
      const seen = [];
      const { then } = Promise.prototype;
      Promise.prototype.then = function (...callbacks) { seen.push(this, ...callbacks); return then.apply(this, callbacks); };
      await svc.getCheckpoint();
      Promise.prototype.then = then;
      return seen.some((value) => { try { return typeof value?.constructor?.constructor('return process')() === 'object'; } catch { return false; } }) ? 'reached' : 'held';`,
    ends: held,
  },
  {
    name: 'setters on Object.prototype catch what crosses',
    body: `
      const caught = [];
      const names = ['kind', 'id', 'json', 'body', 'resolve', 'reject', 'method', 'args', 'reference'];
      for (const name of names) Object.prototype.__defineSetter__(name, (value) => { caught.push(value); });
      await svc.getCheckpoint().catch(() => undefined);
      for (const name of names) delete Object.prototype[name];
      return caught.some((value) => { try { return typeof value?.constructor?.constructor('return process')() === 'object'; } catch { return false; } }) ? 'reached' : 'held';`,
    ends: held,
  },
  {
    name: 'the answer of a host pollutes prototypes',
    body: `await svc.getConnection(); return ({}).polluted === undefined ? 'held' : 'polluted';`,
    ends: held,
  },
  {
    name: 'names on the handle that no method has',
    body: `
      const names = ['constructor', '__proto__', '__defineGetter__', '__lookupGetter__', 'toString', 'valueOf', 'hasOwnProperty', 'call', 'ask', 'settle', 'bridge', 'host'];
      return names.filter((name) => { try { return svc[name] !== undefined; } catch { return false; } }).join() || 'held';`,
    ends: held,
  },
  {
    name: 'the handle gets another prototype, property or method',
    body: `
      const tries = [() => Object.setPrototypeOf(svc, { a: 1 }), () => Object.defineProperty(svc, 'get', { value: 1 }), () => { 'use strict'; delete svc.get; }, () => { 'use strict'; svc.mine = 1; }];
      const done = tries.filter((attempt) => { try { attempt(); return true; } catch { return false; } });
      return done.length > 0 && (svc.mine === 1 || typeof svc.get !== 'function') ? 'changed' : 'held';`,
    ends: held,
  },
  {
    name: 'what the start of the runtime left behind',
    body: `return Reflect.ownKeys(globalThis).filter((name) => /^__|svc|ivm|isolate|bridge|hook/i.test(String(name)) && !/^__(define|lookup|proto|zod)/.test(String(name))).join() || 'held';`,
    ends: held,
  },
  {
    name: 'a symbol that converts runs in the host',
    body: `let ran = 0; try { await svc.get({ endpoint: { [Symbol.toPrimitive]() { ran += 1; return new Error('x').stack; } } }); } catch {} return ran > 0 && ${hostWords}.test(String(ran)) ? 'reached' : 'held';`,
    ends: held,
  },
  {
    name: 'a bundle that closes the function around it',
    body: `return 'held'; } }; }); globalThis.out = typeof process; (function () { exports.default = { type: 'action', exec: async (svc) => {`,
    ends: failed,
  },
];

const floods: readonly Hostile[] = [
  { name: 'a loop', body: 'for (;;);', limits: { cpuMs: 80 }, ends: outOfTime },
  {
    name: 'a loop of microtasks',
    body: 'for (;;) await null;',
    limits: { cpuMs: 80 },
    ends: outOfTime,
  },
  {
    name: 'a regular expression that backtracks',
    body: '/^(a+)+$/.test("a".repeat(60) + "b");',
    limits: { cpuMs: 80 },
    ends: outOfTime,
  },
  {
    name: 'a comparison that never ends a sort',
    body: 'for (;;) [3, 1, 2].sort(() => { for (;;); });',
    limits: { cpuMs: 80 },
    ends: outOfTime,
  },
  {
    name: 'a proxy that never answers its output',
    body: 'return new Proxy({}, { ownKeys() { for (;;); } });',
    limits: { cpuMs: 80 },
    ends: outOfTime,
  },
  {
    name: 'an error whose stack never ends',
    body: 'throw Object.defineProperty(new Error("x"), "stack", { get() { for (;;); } });',
    limits: { cpuMs: 80 },
    ends: outOfTime,
  },
  {
    name: 'a loop that catches the end of its time',
    body: 'for (;;) { try { await svc.getCheckpoint(); } catch { await null; } }',
    limits: { wallMs: 100, graceMs: 50 },
    ends: outOfTime,
  },
  {
    name: 'lists without end',
    body: 'const all = []; for (;;) all.push(new Array(1e5).fill(1));',
    limits: { heapMb: 32 },
    ends: outOfMemory,
  },
  {
    name: 'a text that doubles',
    body: 'let text = "x".repeat(1e6); const all = []; for (;;) all.push((text = text.slice(0, 5e6) + text.slice(0, 5e6) + all.length).split("x").join("y"));',
    limits: { heapMb: 32 },
    ends: outOfMemory,
  },
  {
    name: 'buffers outside of the heap',
    body: 'const all = []; for (;;) all.push(Buffer.alloc(1e7, 1));',
    limits: { heapMb: 32 },
    ends: outOfMemory,
  },
  {
    name: 'promises without end',
    body: 'const all = []; for (;;) all.push(new Promise((resolve) => { resolve(all.length); }));',
    limits: { heapMb: 32 },
    ends: outOfMemory,
  },
  {
    name: 'maps, sets and closures without end',
    body: 'const all = new Map(); for (let n = 0; ; n++) all.set({ n }, new Set([() => n, n]));',
    limits: { heapMb: 32 },
    ends: outOfMemory,
  },
  {
    name: 'log lines without end',
    body: 'for (;;) svc.log("x".repeat(1000), { level: "error" });',
    limits: { heapMb: 32 },
    ends: outOfMemory,
  },
  {
    name: 'log lines that are waited for, without end',
    body: 'for (;;) await svc.log("x".repeat(1000), { level: "error" });',
    limits: { cpuMs: 300 },
    ends: { kind: ['timeout', 'limit'] },
  },
  {
    name: 'calls without end, at once',
    body: 'for (;;) svc.getCheckpoint();',
    limits: { heapMb: 32 },
    ends: outOfMemory,
  },
  {
    name: 'calls without end, one after the other',
    body: 'for (;;) await svc.getCheckpoint();',
    limits: { hostCalls: 200 },
    ends: { kind: ['limit'] },
  },
  {
    name: 'timers without end',
    body: 'for (;;) setTimeout(() => undefined, 60_000);',
    ends: { kind: ['error'], message: /timers/ },
  },
  {
    name: 'rejections that nobody handles',
    body: 'for (let n = 0; n < 20_000; n++) Promise.reject(new Error("x" + n)); return "held";',
    ends: held,
  },
  {
    name: 'a recursion without end',
    body: 'const down = () => down() + 1; return down();',
    ends: { kind: ['error'], message: /call stack/ },
  },
  {
    name: 'an output that is nested without end',
    body: 'let nested = []; for (let n = 0; n < 1e6; n++) nested = [nested]; return nested;',
    ends: { kind: ['error', 'output_too_large'] },
  },
  {
    name: 'an output above its limit',
    body: 'return "x".repeat(3e6);',
    ends: { kind: ['output_too_large'] },
  },
  {
    name: 'an output that holds itself',
    body: 'const self = {}; self.self = self; return self;',
    ends: failed,
  },
  { name: 'an output that is no JSON', body: 'return { n: 1n };', ends: failed },
  {
    name: 'an output whose toJSON throws what is no error',
    body: 'return { toJSON() { throw null; } };',
    ends: failed,
  },
  {
    name: 'an error with a message of 50 MB',
    body: 'throw new Error("x".repeat(5e7));',
    ends: { kind: ['error', 'memory'] },
  },
  {
    name: 'an ActionError whose payload holds itself',
    body: 'const self = {}; self.self = self; throw new svc.ActionError(self);',
    ends: { kind: ['action_error', 'error'] },
  },
  {
    name: 'a thrown proxy that throws at every look',
    body: 'throw new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; }, has() { throw 3; } });',
    ends: failed,
  },
  { name: 'a thrown symbol', body: 'throw Symbol("x");', ends: failed },
  {
    name: 'a pattern that is nested without end',
    body: 'new RegExp("(".repeat(2e5) + ")".repeat(2e5)).test("x");',
    ends: { kind: ['error', 'memory'] },
  },
  {
    name: 'JSON that is nested without end',
    body: 'return JSON.stringify(JSON.parse("[".repeat(2e6) + "]".repeat(2e6))).length;',
    ends: { kind: ['error', 'memory'] },
  },
  {
    name: 'a promise that nobody settles',
    body: 'await new Promise(() => undefined);',
    ends: failed,
  },
];

export const hostileCorpus: readonly Hostile[] = [...escapes, ...floods];
