import { Buffer as NodeBuffer } from 'node:buffer';
import { createHash, createHmac } from 'node:crypto';
import { runInThisContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as zodPackage from 'zod';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { outputOf } from './guest.ts';

const sandbox = await sharedSandbox();

const seed = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** The same expression here and in the realm. */
async function bothSay(expression: string): Promise<[unknown, unknown]> {
  const prepare = 'const crypto = lib("crypto"); const { URL: UrlOfModule } = lib("url");';
  const guest = await outputOf(sandbox, `const lib = req; ${prepare} return (${expression});`, {
    head: 'const req = require;',
  });
  const make = runInThisContext(
    `(lib) => { ${prepare} return (async () => (${expression}))(); }`,
  ) as (lib: (name: string) => unknown) => Promise<unknown>;
  const node = await make((name) => process.getBuiltinModule(name));
  return [guest, JSON.parse(JSON.stringify(node))];
}

describe('behaves as Node does', () => {
  it.each([
    `Buffer.from('héllo wörld ✓ 😀').toString('base64')`,
    `Buffer.from('aGk=', 'base64').toString()`,
    `Buffer.from('aGk', 'base64url').toString()`,
    `Buffer.from('-_-_', 'base64').toString('hex')`,
    `Buffer.from([255, 254, 253]).toString('base64url')`,
    `(() => { const b = Buffer.alloc(6); return [b.write('-_-_', 1, 'base64url'), b.toString('hex'), Buffer.isEncoding('BASE64URL'), Buffer.byteLength('-_-_', 'base64url')]; })()`,
    `Buffer.from('a').toString('UTF8') + Buffer.from('é', 'Utf-8').toString('hex') + Buffer.from('xyz').toString(undefined, 1, 2)`,
    `[Buffer.from('ab').lastIndexOf('b'), Buffer.from('0102', 'hex').readUIntBE(0, 2), Buffer.from({ type: 'Buffer', data: [1] }).length]`,
    `(() => { try { Buffer.from('a').toString('nope'); } catch (error) { return error instanceof TypeError; } })()`,
    `[Buffer.from('').toString(), Buffer.from('x').slice(-1).toString(), Buffer.from(new String('s')).toString(), Buffer.from('aé').toString('utf8', 0, 2)]`,
    `(() => { try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])); } catch (error) { return error instanceof TypeError; } })()`,
    `Buffer.from('ff00zz', 'hex').toString('hex')`,
    `Buffer.from('\\xe9\\xff', 'latin1').toString('hex')`,
    `Buffer.from('ab', 'utf16le').toString('hex')`,
    `Buffer.from([0xc3, 0x28, 0xf0, 0x9f, 0x41]).toString()`,
    `Buffer.from('abc')`,
    `Buffer.concat([Buffer.from('ab'), new Uint8Array([99])], 4).toString('hex')`,
    `Buffer.alloc(5, 'ab').toString()`,
    `Buffer.byteLength('é')`,
    `Buffer.isBuffer(Buffer.from('')) && !Buffer.isBuffer(new Uint8Array(1))`,
    `Buffer.compare(Buffer.from('a'), Buffer.from('b'))`,
    `Buffer.from('abc').equals(Buffer.from('abc'))`,
    `Buffer.from('hello').indexOf('llo')`,
    `Buffer.from('hello').includes('x')`,
    `(() => { const b = Buffer.alloc(12); b.writeUInt32BE(0xdeadbeef, 0); b.writeInt16LE(-2, 4); b.writeDoubleBE; b.writeUInt8(7, 6); return [b.toString('hex'), b.readUInt32BE(0), b.readInt16LE(4), b.readUInt8(6)]; })()`,
    `(() => { const b = Buffer.from('abcdef'); b.slice(1, 3)[0] = 120; return b.toString(); })()`,
    `(() => { const b = Buffer.alloc(4); return [b.write('é!'), b.toString('hex')]; })()`,
    `(() => { const b = Buffer.from('abcd'); const t = Buffer.alloc(3); return [b.copy(t, 1, 2), t.toString('hex')]; })()`,
    `Array.from(Buffer.from('ab').map((x) => x + 1))`,
    `Buffer.from(new Uint8Array([1, 2, 3]).buffer, 1, 2).toString('hex')`,
    `btoa('abc') + atob('YWJj')`,
    `Array.from(new TextEncoder().encode('é😀\\ud800'))`,
    `new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff]))`,
    `new TextDecoder('utf-16le').decode(new Uint8Array([0x61, 0]))`,
    `new TextDecoder('latin1').decode(new Uint8Array([0x80, 0xe4]))`,
    `new TextDecoder('shift_jis').decode(new Uint8Array([0x93, 0xfa, 0x96, 0x7b]))`,
    `new TextDecoder('gb18030').decode(new Uint8Array([0xc4, 0xe3, 0xba, 0xc3]))`,
    `new TextDecoder('euc-kr').decode(new Uint8Array([0xc7, 0xd1]))`,
    `new TextDecoder('big5').decode(new Uint8Array([0xa4, 0xa4]))`,
    `new TextDecoder('utf-16be').decode(new Uint8Array([0xfe, 0xff, 0, 0x61]))`,
    `new TextDecoder('koi8-r').encoding + new TextDecoder(' CP1252 ').encoding`,
    `new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])).length`,
    `(() => { const d = new TextDecoder(); return d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + '|' + d.decode(new Uint8Array([0xac])); })()`,
    `(() => { const d = new TextDecoder('euc-jp'); return d.decode(new Uint8Array([0xc6]), { stream: true }) + d.decode(new Uint8Array([0xfc])); })()`,
    `(() => { try { new TextDecoder('no-such'); } catch (error) { return error.name; } })()`,
    `['utf-8', 'utf-16le', 'utf-16be', 'gb18030', 'shift_jis', 'euc-jp', 'euc-kr', 'big5', 'iso-2022-jp', 'windows-1252'].map((label) => { const bytes = { 'utf-16le': '4f533dd800de6100', 'utf-16be': '5330d83dde000061', gb18030: 'c4e381308130bac361', shift_jis: '93fa967b61', 'euc-jp': 'c6fc8fb0a161', 'euc-kr': 'c7d161', big5: 'a4a461', 'iso-2022-jp': '1b24424672467c1b284261', 'windows-1252': '80e4' }[label] ?? 'efbbbfe282acf09f988061'; const d = new TextDecoder(label); let text = ''; for (const byte of Buffer.from(bytes, 'hex')) text += d.decode(Uint8Array.of(byte), { stream: true }); return text + d.decode(); })`,
    `(() => { const d = new TextDecoder('utf-8', { fatal: true }); const out = []; for (const hex of ['e282', '41', '42']) try { out.push(d.decode(Buffer.from(hex, 'hex'), { stream: true })); } catch (error) { out.push(error.code); } return out; })()`,
    `(() => { const d = new TextDecoder(); return [d.decode(Buffer.from('efbb', 'hex'), { stream: true }), d.decode(Buffer.from('bf61', 'hex'), { stream: true }), d.decode(Buffer.from('efbbbf', 'hex')).length, d.decode(Buffer.from('efbbbf62', 'hex'))]; })()`,
    `(() => { const d = new TextDecoder('utf-16le'); return d.decode(Uint8Array.of(0x3d, 0xd8, 0), { stream: true }) + '|' + d.decode(); })()`,
    `new URL('/a/../b?x=1&y=%20#h', 'https://user:pw@Example.com:8443/z').href`,
    `(() => { const u = new URL('http://a.b/c?d=1'); u.searchParams.append('e', 'ö &'); u.pathname = '/x y'; u.hash = 'z'; return [u.href, u.search, u.origin, u.host]; })()`,
    `(() => { const u = new URL('http://a.b/'); u.search = '?q=1'; return [u.searchParams.get('q'), JSON.stringify({ u })]; })()`,
    `(() => { try { new URL('nope'); } catch (error) { return [error instanceof TypeError, error.code]; } })()`,
    `URL.canParse('x:y') && !URL.canParse('//')`,
    `new UrlOfModule('http://x.y').hostname`,
    `new URLSearchParams({ a: 1, b: 'x y', c: 'é&=+*~' }).toString()`,
    `new URLSearchParams('?a=1&b=%41+c&a=2&d').getAll('a')`,
    `[...new URLSearchParams([['a', '1'], ['b', '2']])]`,
    `(() => { const p = new URLSearchParams('b=1&a=2&b=3'); p.set('b', '4'); p.sort(); p.delete('z'); return [p.toString(), p.size, p.has('a', '2')]; })()`,
    `new URLSearchParams('a=%zz&b=%ff').toString()`,
    `structuredClone({ a: new Date(0), b: [1, { c: /x/gi }], m: 1 })`,
    `(() => { const a = { m: new Map([[1, new Set([2])]]) }; a.self = a; const b = structuredClone(a); return [b.self === b, b !== a, [...b.m.get(1)]]; })()`,
    `(() => { try { structuredClone(() => 1); } catch (error) { return error.name; } })()`,
    `[...new Headers({ 'X-B': '1', a: ' 2 ' })]`,
    `(() => { const h = new Headers(); h.append('A', '1'); h.append('a', '2'); return [h.get('A'), h.has('b')]; })()`,
    `new Blob(['a', new Uint8Array([98])], { type: 'Text/Plain' }).text()`,
    `(() => { const f = new FormData(); f.append('a', 1); f.append('a', 2); f.set('b', 'x'); return [f.getAll('a'), f.get('b'), [...f.keys()]]; })()`,
    `(() => { const c = new AbortController(); let n = 0; c.signal.addEventListener('abort', () => n++); c.abort('why'); c.abort('again'); return [c.signal.aborted, c.signal.reason, n]; })()`,
    `(() => { const c = new AbortController(); c.abort(); return [c.signal.reason.name, AbortSignal.any([c.signal]).aborted]; })()`,
    `crypto.createHash('sha256').update('a').update(Buffer.from('b')).digest('hex')`,
    `crypto.createHash('SHA1').update('é').digest('base64url')`,
    `crypto.createHmac('sha512', 'key').update('a').digest().toString('hex')`,
    `crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('a'))`,
    `crypto.randomBytes(16).length`,
    `/^[0-9a-f-]{36}$/.test(crypto.randomUUID())`,
    `new Promise((resolve) => setTimeout(resolve, 1, 'after'))`,
    `new Promise((resolve) => { const t = setTimeout(() => resolve('fired'), 1); clearTimeout(t); setTimeout(() => resolve('cleared'), 20); })`,
    `(() => { const order = []; setTimeout(() => order.push('timer'), 0); return Promise.resolve().then(() => order.push('micro')).then(() => new Promise((r) => setTimeout(r, 20))).then(() => order); })()`,
    `[typeof structuredClone, new Error('x') instanceof Error, (() => { try { null.x; } catch (e) { return e instanceof TypeError && e instanceof Error; } })()]`,
    `(() => { class A extends Buffer.from('').constructor {} return A.name; })()`,
    `(() => 1) instanceof Function && (async () => 1) instanceof Function`,
  ])('%s', async (expression) => {
    const [guest, node] = await bothSay(expression);
    expect(guest).toEqual(node);
  });

  it(`text and bytes there and back, seed ${seed}`, async () => {
    const texts = fc.sample(fc.string({ unit: 'binary', maxLength: 40 }), { numRuns: 300, seed });
    const bytes = fc.sample(fc.uint8Array({ maxLength: 40 }), { numRuns: 300, seed });
    const guest = await outputOf(
      sandbox,
      `return {
        texts: input.texts.map((text) => [Buffer.from(text).toString('hex'), Buffer.from(text).toString('base64'), new URLSearchParams([['k', text]]).toString()]),
        bytes: input.bytes.map((list) => ['utf8', 'latin1', 'base64', 'base64url', 'hex', 'utf16le', 'ascii'].map((name) => Buffer.from(list).toString(name))),
      };`,
      { input: { texts, bytes: bytes.map((list) => [...list]) } },
    );
    const names = ['utf8', 'latin1', 'base64', 'base64url', 'hex', 'utf16le', 'ascii'] as const;
    expect(guest).toEqual({
      texts: texts.map((text) => [
        NodeBuffer.from(text).toString('hex'),
        NodeBuffer.from(text).toString('base64'),
        new URLSearchParams([['k', text]]).toString(),
      ]),
      bytes: bytes.map((list) => names.map((name) => NodeBuffer.from(list).toString(name))),
    });
  });

  it(`digests of any bytes, seed ${seed}`, async () => {
    const samples = fc.sample(fc.uint8Array({ maxLength: 100 }), { numRuns: 20, seed });
    const guest = await outputOf(
      sandbox,
      `const { createHash, createHmac } = lib('node:crypto');
       return input.map((list) => [createHash('sha384').update(Buffer.from(list)).digest('hex'), createHmac('md5', Buffer.from(list)).update('x').digest('base64')]);`,
      { input: samples.map((list) => [...list]), head: 'const lib = require;' },
    );
    expect(guest).toEqual(
      samples.map((list) => [
        createHash('sha384').update(list).digest('hex'),
        createHmac('md5', list).update('x').digest('base64'),
      ]),
    );
  });
});

describe('of our own', () => {
  it('console says nothing, whatever is called', async () => {
    const body = 'console.log("x"); console.anything.length; console.table([1]); return "silent";';
    expect(await outputOf(sandbox, body)).toBe('silent');
  });

  it('modules are found with and without node:, and under default', async () => {
    const body = `return [lib('node:url') === lib('url'), lib('crypto').default === undefined, typeof lib('zod').z.object,
      typeof lib('zod').object, typeof lib('zod').default.string, typeof lib('svc').createSync];`;
    expect(await outputOf(sandbox, body, { head: 'const lib = require;' })).toEqual([
      true,
      false,
      'function',
      'function',
      'function',
      'function',
    ]);
  });

  it('an unknown digest is an error', async () => {
    const body = `try { lib('crypto').createHash('nope').update('').digest(); } catch (error) { return error.message; }`;
    expect(await outputOf(sandbox, body, { head: 'const lib = require;' })).toContain(
      'not supported',
    );
  });

  it('zod checks and transforms', async () => {
    const body = `const { z } = lib('zod');
      return z.object({ a: z.coerce.number(), b: z.string().email().optional() }).safeParse({ a: '4', b: 'x' }).error.issues.map((i) => i.path.join('.'));`;
    expect(await outputOf(sandbox, body, { head: 'const lib = require;' })).toEqual(['b']);
  });

  it('zod offers everything that the package does, with its messages in English alone', async () => {
    const body = `const zod = lib('zod');
      const message = zod.z.string().safeParse(1).error.issues[0].message;
      return [Object.keys(zod).sort(), Object.keys(zod.z.locales), zod.default === zod.z, message];`;
    const said = await outputOf(sandbox, body, { head: 'const lib = require;' });
    const names = Object.keys(zodPackage).sort();
    const [issue] = zodPackage.z.string().safeParse(1).error?.issues ?? [];
    expect(said).toEqual([names, ['en'], true, issue?.message]);
  });
});
