import { z } from 'zod';
import { parseExactJson } from '#kernel/exact-json.ts';
import type { Json } from '#kernel/stable-json.ts';
import {
  missingEntry,
  type DefinitionType,
  type EntryPoint,
  type FunctionType,
  type RunContext,
} from '#ports/sandbox.ts';
import { bind, end, fail, settleCall } from './bridge.ts';
import * as cryptography from './crypto.ts';
import { definitionOf, describeDefinition } from './definition.ts';
import { describeThrown, jsonText, ActionError } from './errors.ts';
import { installGlobals } from './globals.ts';
import { countDropped, flushLogs, startLogging } from './log.ts';
import { makeHandle } from './svc.ts';
import { Open } from './unzipper.ts';
import { URLSearchParams } from './url-search-params.ts';
import { URL } from './url.ts';
import {
  checkInput,
  checkOutput,
  isValidating,
  reportValidation,
  startValidation,
} from './validation.ts';

/** The supervisor's order; as JSON text. */
export type GuestOrder =
  | { readonly task: 'describe'; readonly fileName: string }
  | {
      readonly task: 'run';
      readonly fileName: string;
      readonly type: FunctionType;
      readonly entry: EntryPoint;
      readonly input: string | null;
      readonly context: RunContext;
    };

interface CommonJs {
  exports: unknown;
}
/** The bundle, compiled as the body of a function. */
type Bundle = (exports: unknown, require: (name: unknown) => object, module: CommonJs) => void;

/**
 * The supervisor calls this once in each isolate, keeps the returned function, and deletes the name. The globals
 * are set here and not in the snapshot, because V8 adds its own when it creates a context from a snapshot.
 */
Object.defineProperty(globalThis, '__svcStart', {
  configurable: true,
  value: (
    post: Parameters<typeof bind>[0],
    call: Parameters<typeof bind>[1],
    dropped: ArrayBufferLike,
  ) => {
    installGlobals();
    bind(post, call);
    countDropped(dropped);
    return { settle: settleCall, start };
  },
});

/** Ends by a message, not by a return value. */
function start(bundle: Bundle, orderText: string): void {
  const order = JSON.parse(orderText) as GuestOrder;
  perform(bundle, order).then(end, (thrown: unknown) => {
    fail(JSON.stringify(describeThrown(thrown, order.fileName)));
  });
}

async function perform(bundle: Bundle, order: GuestOrder): Promise<string | undefined> {
  if (order.task === 'describe') return JSON.stringify(describeDefinition(load(bundle)));
  const { type, entry, input, context } = order;
  startLogging(context.loggerLevel);
  try {
    const definition = definitionOf(load(bundle));
    startValidation(context, definition);
    const called = definition[entry];
    if (typeof called !== 'function') {
      throw Object.assign(new Error(`The function has no ${entry}.`), { code: missingEntry });
    }
    const svc = makeHandle(type, context);
    const supplied = input === null ? undefined : (parseExactJson(input) as Json);
    if (type === 'action') checkInput(supplied ?? null);
    const output: unknown = await called.call(definition, svc, supplied);
    if (type !== 'action') return undefined;
    const text = jsonText(output);
    if (isValidating()) checkOutput(text === undefined ? null : (JSON.parse(text) as Json));
    return text;
  } finally {
    await reportValidation().catch(() => undefined);
    await flushLogs();
  }
}

function load(bundle: Bundle): unknown {
  const module: CommonJs = { exports: {} };
  bundle.call(module.exports, module.exports, require, module);
  const exported = module.exports as { default?: unknown } | null | undefined;
  return exported?.default ?? exported;
}

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
const { getRandomValues, randomUUID } = cryptography;
const crypto = module({ ...cryptography, webcrypto: { getRandomValues, randomUUID } });

const unzipper = module({ Open });

/** The same exports as the package: `z` contains all of them. */
const zod = module({ ...z, z }, z);

/** As those of the SDK, which are typed; in few characters, because each realm holds the script. */
const definer = (type: DefinitionType) => (definition: object) => ({ ...definition, type });

const modules: Readonly<Record<string, object>> = {
  svc: module({
    createSync: definer('sync'),
    createAction: definer('action'),
    createOnEvent: definer('onEvent'),
    createOnChange: definer('onChange'),
    createProjection: definer('projection'),
    ActionError,
  }),
  zod,
  'zod/v4': zod,
  url,
  'node:url': url,
  crypto,
  'node:crypto': crypto,
  unzipper,
};

/** @throws Error `Module '<name>' is not allowed` */
function require(name: unknown): object {
  const key = String(name);
  const found = Object.hasOwn(modules, key) ? modules[key] : undefined;
  if (found === undefined) throw new Error(`Module '${key}' is not allowed`);
  return found;
}
