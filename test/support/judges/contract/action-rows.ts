import { nobody } from './row-functions.ts';

/** A row of an action (see rows.ts): what its body returns. */
export interface ActionRow {
  /** Section and row. */
  readonly row: string;
  readonly body: string;
  readonly expected: unknown;
  readonly input?: unknown;
  /** Statements before the definition. */
  readonly head?: string;
}

const caught = (code: string): string =>
  `try { ${code}; return 'nothing thrown'; } catch (error) { return error.message; }`;
const types = (names: string): string =>
  `return Object.fromEntries(${JSON.stringify(names.split(' '))}.map((name) => [name, typeof globalThis[name]]));`;
const all = (names: string, type: string) =>
  Object.fromEntries(names.split(' ').map((name) => [name, type]));

const present =
  'Buffer setTimeout clearTimeout Error URL URLSearchParams TextEncoder TextDecoder structuredClone atob btoa AbortController FormData Blob Headers';
const missing = 'process fetch setInterval WebAssembly';

/** A ZIP archive of three entries: a folder, a file stored as it is, a packed one. */
const archive =
  'UEsDBBQAAAAAAAAAIQAAAAAAAAAAAAAAAAAHAAAAZm9sZGVyL1BLAwQUAAAAAAAAACEAC/lDVgYAAAAGAAAAEAAAAGZvbGRlci9wbGFpbi50eHRzdG9yZWRQSwMEFAAACAgAAAAhAJs0OiIQAAAAmAEAAAwAAABncsO2w59lLmpzb26rVkpUslJKTBqFgwkq1QIAUEsBAhQDFAAAAAAAAAAhAAAAAAAAAAAAAAAAAAcAAAAAAAAAAAAAAIABAAAAAGZvbGRlci9QSwECFAMUAAAAAAAAACEAC/lDVgYAAAAGAAAAEAAAAAAAAAAAAAAAgAElAAAAZm9sZGVyL3BsYWluLnR4dFBLAQIUAxQAAAgIAAAAIQCbNDoiEAAAAJgBAAAMAAAAAAAAAAAAAACAAVkAAABncsO2w59lLmpzb25QSwUGAAAAAAMAAwCtAAAAkwAAAAkAYSBjb21tZW50';

export const moduleRows: readonly ActionRow[] = [
  {
    row: '§1 the module svc has the three create functions and ActionError',
    body: `const svcModule = require('svc'); return ['createSync', 'createAction', 'createOnEvent', 'ActionError'].map((name) => typeof svcModule[name]);`,
    expected: ['function', 'function', 'function', 'function'],
  },
  {
    row: '§1 the create functions return their argument with a kind',
    body: `const m = require('svc'); return [m.createSync({ a: 1 }), m.createAction({}).type, m.createOnEvent({}).type];`,
    expected: [{ a: 1, type: 'sync' }, 'action', 'onEvent'],
  },
  {
    row: '§1 third-party packages are not allowed',
    body: caught(`require('lodash')`),
    expected: "Module 'lodash' is not allowed",
  },
  {
    row: '§1 soap opens sockets and is refused',
    body: caught(`require('soap')`),
    expected: "Module 'soap' is not allowed",
  },
  {
    row: '§1 unzipper: archives in memory',
    body: `const { Open } = require('unzipper'); const { files } = await Open.buffer(Buffer.from('${archive}', 'base64')); return Promise.all(files.map(async (file) => [file.path, file.type, (await file.buffer()).toString().slice(0, 8)]));`,
    expected: [
      ['folder/', 'Directory', ''],
      ['folder/plain.txt', 'File', 'stored'],
      ['größe.json', 'File', '{"a":"ab'],
    ],
  },
  {
    row: '§1 node: forms resolve to the same modules',
    body: `return ['crypto', 'url'].map((name) => require(name) === require('node:' + name));`,
    expected: [true, true],
  },
  {
    row: '§1 zod is version 4, by name or as a namespace',
    body: `const zod = require('zod'); return [typeof zod.z.object, typeof zod.object, zod.z.string().safeParse(1).success];`,
    expected: ['function', 'function', false],
  },
  {
    row: '§1 crypto: randomUUID, createHash and the default import',
    body: `const crypto = require('crypto'); return [crypto.randomUUID().length, crypto.createHash('sha256').update('a').digest('hex').slice(0, 8), crypto.default.createHash === crypto.createHash];`,
    expected: [36, 'ca978112', true],
  },
  {
    row: '§1 url: URLSearchParams',
    body: `const { URLSearchParams: Params } = require('url'); return new Params({ a: '1', b: 'x y' }).toString();`,
    expected: 'a=1&b=x+y',
  },
];

export const environmentRows: readonly ActionRow[] = [
  { row: '§3 globals', body: types(present), expected: all(present, 'function') },
  { row: '§3 what is not defined', body: types(missing), expected: all(missing, 'undefined') },
  {
    row: '§3 no code is made of text',
    body: `const tries = [() => eval('1'), () => new Function('return 1')(), () => (async () => {}).constructor('return 1')]; return tries.map((make) => { try { make(); return 'made'; } catch (error) { return error.name; } });`,
    expected: ['ReferenceError', 'EvalError', 'EvalError'],
  },
  {
    row: '§3 console says nothing and fails nothing',
    body: `console.log('x'); console.error({}); console.anything?.(); return 'quiet';`,
    expected: 'quiet',
  },
  {
    row: '§3 errors of svc methods and of the realm are instances of Error',
    body: `const seen = []; try { await svc.get({ endpoint: '/missing' }); } catch (error) { seen.push(error instanceof Error); } try { null.x; } catch (error) { seen.push(error instanceof Error); } return seen;`,
    expected: [true, true],
  },
  {
    row: '§3 the handle hides its inside',
    body: caught(`svc.constructor`),
    expected: 'Access to "constructor" is not allowed.',
  },
  {
    row: '§3 the handle has no prototype, and its methods are bound',
    body: `const { getMetadata } = svc; return [Object.getPrototypeOf(svc), typeof (await getMetadata())];`,
    expected: [null, 'object'],
  },
  { row: '§3 an empty object as input stays one', body: `return input;`, input: {}, expected: {} },
  { row: '§3 no input is undefined', body: `return typeof input;`, expected: 'undefined' },
];

const methods =
  'get post put patch delete proxy paginate uncontrolledFetch log setLogger getEnvironmentVariables triggerAction triggerSync startSync getIntegration getConnection getMetadata setMetadata updateMetadata getToken getRawTokenResponse getWebhookURL zodValidateInput tryAcquireLock releaseLock releaseAllLocks getCheckpoint saveCheckpoint clearCheckpoint ActionError';
const ofSyncs =
  'batchSave batchUpdate batchDelete trackDeletesStart trackDeletesEnd deleteRecordsFromPreviousExecutions getRecordsById getRecordsByIds listRecords setMergingStrategy';

export const handleRows: readonly ActionRow[] = [
  {
    row: '§4 members of every handle',
    body: `return ${JSON.stringify(methods.split(' '))}.filter((name) => typeof svc[name] !== 'function');`,
    expected: [],
  },
  {
    row: '§4 members of syncs are not on the handle of actions',
    body: `return ${JSON.stringify(ofSyncs.split(' '))}.filter((name) => { try { return svc[name] !== undefined; } catch { return false; } });`,
    expected: [],
  },
  {
    row: '§4 properties',
    body: `return [typeof svc.connectionId, svc.providerConfigKey, svc.provider, svc.environmentName, typeof svc.environmentId, svc.variant, svc.lastSyncDate ?? null];`,
    expected: ['string', 'rows', 'crm', 'dev', 'number', 'base', null],
  },
  {
    row: '§4 proxy: GET unless it says otherwise; a named method overrides',
    body: `const asked = []; asked.push((await svc.proxy({ endpoint: '/contacts' })).status); asked.push((await svc.post({ endpoint: '/results', method: 'GET', data: { step: 'proxy' } })).status); return asked;`,
    expected: [200, 201],
  },
  {
    row: '§4 uncontrolledFetch refuses an address that may not be reached',
    body: `try { await svc.uncontrolledFetch({ url: new URL('http://169.254.169.254/') }); return 'reached'; } catch (error) { return [error instanceof svc.ActionError, error.payload.code]; }`,
    expected: [true, 'url_not_allowed'],
  },
  {
    row: '§4 getEnvironmentVariables: null without any',
    body: `return svc.getEnvironmentVariables();`,
    expected: null,
  },
  {
    row: '§4 triggerAction: short, and long with integration and connection',
    body: `return [await svc.triggerAction('row-echo', { a: 1 }), await svc.triggerAction('rows', svc.connectionId, 'row-echo', 'b')];`,
    expected: [{ a: 1 }, 'b'],
  },
  {
    row: '§4 triggerAction: a failure looks as the trigger API answers it',
    body: `try { await svc.triggerAction('row-refuses'); return 'ran'; } catch (error) { return [error.response.status, error.response.data]; }`,
    expected: [424, { error_type: 'action_script_failure', payload: { message: 'no' } }],
  },
  {
    row: '§4 getIntegration: the integration, and more with include',
    body: `const plain = await svc.getIntegration(); const more = await svc.getIntegration({ include: ['webhook', 'credentials'] }); return [plain.unique_key, 'credentials' in plain, 'credentials' in more, 'webhook_url' in more];`,
    expected: ['rows', false, true, true],
  },
  {
    row: '§4 getConnection: with credentials, in the shape of the API',
    body: `const found = await svc.getConnection(); return [found.connection_id === svc.connectionId, found.credentials.type, found.connection_config.account === svc.connectionId];`,
    expected: [true, 'API_KEY', true],
  },
  {
    row: '§4 setMetadata replaces the whole, updateMetadata the keys that are named',
    body: `await svc.setMetadata({ a: 1, b: { c: 1 } }); await svc.updateMetadata({ b: { d: 2 } }); return svc.getMetadata();`,
    expected: { a: 1, b: { d: 2 } },
  },
  {
    row: '§10 metadata is plain JSON, whatever a schema says',
    body: `await svc.setMetadata({ when: new Date(0), gone: undefined, deep: [{ a: null }] }); return svc.getMetadata();`,
    expected: { when: '1970-01-01T00:00:00.000Z', deep: [{ a: null }] },
  },
  {
    row: '§4 getToken: the credentials where they are no token',
    body: `return Object.keys(await svc.getToken()).sort();`,
    expected: ['apiKey', 'type'],
  },
  {
    row: '§4 getRawTokenResponse: empty where there is none',
    body: `return svc.getRawTokenResponse();`,
    expected: {},
  },
  {
    row: '§4 getWebhookURL: null where the provider has no webhooks',
    body: `return svc.getWebhookURL();`,
    expected: null,
  },
  {
    row: '§4 zodValidateInput: data, or an ActionError',
    body: `const zodSchema = require('zod').z.object({ a: require('zod').z.number() }); const good = await svc.zodValidateInput({ zodSchema, input: { a: 1 } }); try { await svc.zodValidateInput({ zodSchema, input: {} }); } catch (error) { return [good, error.payload]; }`,
    expected: [{ success: true, data: { a: 1 } }, { message: 'Invalid input provided' }],
  },
  {
    row: '§4 locks: one owner at a time, and an own lock is acquired again',
    body: `const key = 'row-lock'; const first = [await svc.tryAcquireLock({ key, ttlMs: 60000 }), await svc.tryAcquireLock({ key, ttlMs: 60000 })]; const other = await svc.triggerAction('row-lock-taker', key); const released = await svc.releaseLock({ key }); return [...first, other, released, await svc.triggerAction('row-lock-taker', key)];`,
    expected: [true, true, false, true, true],
  },
];

export const httpRows: readonly ActionRow[] = [
  {
    row: '§5.1 endpoint: joined with one slash, and stripped of the base that it repeats',
    body: `const url = async (endpoint) => (await svc.get({ endpoint })).config.url; const plain = await url('/contacts'); return [plain === (await url('contacts')), plain === (await url(plain))];`,
    expected: [true, true],
  },
  {
    row: '§5.1 method: in any case',
    body: `return (await svc.proxy({ endpoint: '/results', method: 'post', data: { step: 'method' } })).status;`,
    expected: 201,
  },
  {
    row: '§5.1 baseUrlOverride replaces the base',
    body: `const { url } = (await svc.get({ endpoint: '/contacts' })).config; return (await svc.get({ endpoint: '', baseUrlOverride: url })).config.url === url;`,
    expected: true,
  },
  {
    row: '§5.3 no answer: the same error without a response',
    body: `try { await svc.get({ endpoint: '/x', baseUrlOverride: 'http://${nobody}' }); return 'answered'; } catch (error) { return [error.isAxiosError, error.code, error.response === undefined]; }`,
    expected: [true, 'ECONNREFUSED', true],
  },
  {
    row: '§5.1 params replace keys of the endpoint; lists are joined; undefined and null are dropped',
    body: `return (await svc.get({ endpoint: '/contacts?limit=9&x=1', params: { limit: 1, list: ['a', 'b'], gone: undefined, none: null } })).config.url.split('?')[1];`,
    expected: 'x=1&limit=1&list=a%2Cb',
  },
  {
    row: '§5.1 params as text with a query in the endpoint are refused',
    body: `try { await svc.get({ endpoint: '/contacts?a=1', params: 'b=2' }); return 'sent'; } catch (error) { return error.code; }`,
    expected: 'invalid_query_params',
  },
  {
    row: '§5.1 responseType arraybuffer gives a Buffer',
    body: `const { data } = await svc.get({ endpoint: '/contacts', responseType: 'arraybuffer' }); return [Buffer.isBuffer(data), JSON.parse(data.toString()).next];`,
    expected: [true, '2'],
  },
  {
    row: '§5.1 placeholders of the connection are filled in',
    body: `return (await svc.get({ endpoint: '/script?who=\${connectionConfig.account}' })).status;`,
    expected: 200,
  },
  {
    row: '§5.3 a response',
    body: `const { data, status, statusText, headers, config, request } = await svc.get({ endpoint: '/contacts' }); return [data, status, statusText, headers['content-type'], typeof config.url, typeof request];`,
    expected: [
      { data: [{ id: 1 }, { id: 2 }], next: '2' },
      200,
      'OK',
      'application/json',
      'string',
      'object',
    ],
  },
  {
    row: '§5.3 any other status throws as the common HTTP client does',
    body: `try { await svc.get({ endpoint: '/missing' }); } catch (error) { const { isAxiosError, message, code, status, response } = error; return [isAxiosError, message, code, status, response.status, response.data, typeof response.headers]; }`,
    expected: [
      true,
      'Request failed with status code 404',
      'ERR_BAD_REQUEST',
      404,
      404,
      { error: 'nothing at /missing' },
      'object',
    ],
  },
  {
    row: '§5.4 credentials are injected; an authorization of the caller replaces them',
    body: `const own = await svc.get({ endpoint: '/contacts', headers: { authorization: 'Bearer other' } }).catch((error) => error.status); return [(await svc.get({ endpoint: '/contacts' })).status, own];`,
    expected: [200, 401],
  },
  {
    row: '§5.5 no retry unless asked, and none for a 404 whatever is asked',
    body: `const started = Date.now(); await svc.get({ endpoint: '/missing', retries: 3 }).catch(() => {}); return Date.now() - started < 3000;`,
    expected: true,
  },
  {
    row: '§6 no pagination anywhere is an error',
    body: `try { for await (const _ of svc.paginate({ endpoint: '/contacts' })); return 'paged'; } catch (error) { return error.message; }`,
    expected:
      'There was no pagination configuration for this integration or configuration passed in.',
  },
  {
    row: '§6 settings are checked before the first request',
    body: `try { for await (const _ of svc.paginate({ endpoint: '/contacts', paginate: { type: 'cursor' } })); return 'paged'; } catch { return 'refused'; }`,
    expected: 'refused',
  },
];
