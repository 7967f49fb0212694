import { z } from 'zod';
import { createAction, createOnEvent, createSync } from '../../../sdk/index.ts';
import {
  createHash,
  createHmac,
  getRandomValues,
  hash,
  randomBytes,
  randomInt,
  randomUUID,
  timingSafeEqual,
} from './crypto.ts';
import { ActionError } from './errors.ts';
import { Open } from './unzipper.ts';
import { URL } from './url.ts';
import { URLSearchParams } from './url-search-params.ts';

/** With a default export, for both styles of import. */
const module = (exports: object, defaultExport: unknown = exports): object =>
  Object.freeze(
    Object.defineProperty({ ...exports, default: defaultExport }, '__esModule', { value: true }),
  );

const url = module({
  URL,
  URLSearchParams,
  format: (value: unknown) => String(value),
});
const crypto = module({
  createHash,
  createHmac,
  getRandomValues,
  hash,
  randomBytes,
  randomInt,
  randomUUID,
  timingSafeEqual,
  webcrypto: { getRandomValues, randomUUID },
});

const unzipper = module({ Open });

/** The same exports as the package: `z` contains all of them. */
const zod = module({ ...z, z }, z);

const modules: Readonly<Record<string, object>> = {
  svc: module({ createSync, createAction, createOnEvent, ActionError }),
  zod,
  'zod/v4': zod,
  url,
  'node:url': url,
  crypto,
  'node:crypto': crypto,
  unzipper,
};

/** @throws Error `Module '<name>' is not allowed` */
export function require(name: unknown): object {
  const key = String(name);
  const found = Object.hasOwn(modules, key) ? modules[key] : undefined;
  if (found === undefined) throw new Error(`Module '${key}' is not allowed`);
  return found;
}
