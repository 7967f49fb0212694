import * as zod from 'zod';
import { createAction, createOnEvent, createSync } from '../../../sdk/index.ts';
import * as crypto from './crypto.ts';
import { ActionError } from './errors.ts';
import { URL } from './url.ts';
import { URLSearchParams } from './url-search-params.ts';

/** With a default export, for either style of import. */
const module = (exports: object, defaultExport: unknown = exports): object =>
  Object.freeze(
    Object.defineProperty({ ...exports, default: defaultExport }, '__esModule', { value: true }),
  );

const url = module({
  URL,
  URLSearchParams,
  format: (value: unknown) => String(value),
});
const cryptoModule = module({
  ...crypto,
  webcrypto: { getRandomValues: crypto.getRandomValues, randomUUID: crypto.randomUUID },
});

const modules: Readonly<Record<string, object>> = {
  svc: module({ createSync, createAction, createOnEvent, ActionError }),
  zod: module(zod, zod.z),
  'zod/v4': module(zod, zod.z),
  url,
  'node:url': url,
  crypto: cryptoModule,
  'node:crypto': cryptoModule,
};

/** @throws Error `Module '<name>' is not allowed` */
export function require(name: unknown): object {
  const key = String(name);
  const found = Object.hasOwn(modules, key) ? modules[key] : undefined;
  if (found === undefined) throw new Error(`Module '${key}' is not allowed`);
  return found;
}
