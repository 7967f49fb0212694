import { createHmac, randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import { createHttpClient } from '#adapters/http-client/undici.ts';
import { startApiServer } from '#api/request-pipeline.ts';
import { defineRoute, type Services } from '#api/services.ts';
import type { EntityKind, EntityRef } from '#control-plane/entity.ts';
import type { AnyRoute, RouteAnswer } from '#http/define-route.ts';
import type { HttpServer } from '#http/server.ts';
import { systemClock } from '#kernel/time.ts';
import type { ApiKey } from '#modules/access/api-keys/api-key.ts';
import { uncounted } from '../fakes/metrics.ts';
import { builtInCatalogue } from './catalogue.ts';

export interface HttpOnly extends AsyncDisposable {
  readonly server: HttpServer;
  readonly services: Services;
  /** Makes a key that works at once and returns its secret. */
  addKey(options: { scopes: readonly string[]; environmentUid?: string | null }): string;
  removeKeys(): void;
  fetch(path: string, init?: RequestInit & { key?: string }): Promise<Response>;
  /** Error lines of the service's log. */
  readonly log: readonly string[];
}

interface Options {
  readonly services?: Partial<Services>;
  readonly rateLimitPerMinute?: number;
  readonly closeWithinMs?: number;
}

/** The HTTP server with its gate over a table of keys; no control plane behind it. */
export async function startHttpOnly(
  routes: readonly AnyRoute[],
  options: Options = {},
): Promise<HttpOnly> {
  const keys = new Map<string, ApiKey>();
  const listeners = new Set<(changed: readonly EntityRef[]) => void>();
  const log: string[] = [];
  const hash = (purpose: string, text: string) =>
    createHmac('sha256', 'test').update(`${purpose}\n${text}`).digest('hex');
  const view = {
    find: () => null,
    list: () => [],
    findBy: ({ kind }: EntityKind, _index: string, value: string) => {
      const key = keys.get(value);
      const isKind = (key?.environmentUid === null) === (kind === 'account-key');
      return key && isKind ? { ref: { kind, scope: '', path: [key.id] }, state: key } : null;
    },
    listBy: () => [],
    connections: () => [],
    caughtUp: async () => undefined,
    onChange: (_kinds: unknown, listener: (changed: readonly EntityRef[]) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const control = { view, tell: async () => undefined };
  const services = {
    control,
    vault: { fingerprint: hash },
    providers: builtInCatalogue(),
    coordination: openInProcessCoordination(),
    http: createHttpClient({ allow: [] }),
    clock: systemClock,
    ...uncounted,
    audit: {
      change: async () => undefined,
      happened: async () => undefined,
      read: () => undefined,
    },
    logger: pino({ level: 'warn' }, { write: (line) => void log.push(line) }),
    settings: {
      publicUrl: 'http://gateway.test',
      rateLimitPerMinute: options.rateLimitPerMinute ?? 60_000,
    },
    readiness: () => [],
    ...options.services,
    // The parts that the gate and open routes do not reach are left out.
  } as unknown as Services;
  const { closeWithinMs = 1000 } = options;
  const server = await startApiServer({
    routes,
    services,
    host: '127.0.0.1',
    port: 0,
    closeWithinMs,
  });
  const changed: EntityRef = { kind: 'api-key', scope: '', path: [] };
  return {
    server,
    services,
    log,
    addKey({ scopes, environmentUid = 'env-1' }) {
      const prefix = environmentUid === null ? 'svc_acct_' : 'svc_env_';
      const secret = prefix + randomBytes(32).toString('base64url');
      const id = randomBytes(8).toString('hex');
      const hashed = hash('api-key', secret);
      const key = { id, environmentUid, scopes, hash: hashed, lastUsedAt: null };
      keys.set(hashed, key as unknown as ApiKey);
      return secret;
    },
    removeKeys() {
      keys.clear();
      for (const listener of listeners) listener([changed]);
    },
    fetch(path, { key, ...init } = {}) {
      const headers = new Headers(init.headers);
      if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
      return fetch(server.url + path, { ...init, headers });
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await services.http[Symbol.asyncDispose]();
      await services.coordination[Symbol.asyncDispose]();
    },
  };
}

/** A GET that any key of an environment may make. */
export const plainRoute = (path: string, handle: () => Promise<RouteAnswer>): AnyRoute =>
  defineRoute({
    method: 'GET',
    path,
    credential: 'environment',
    scopes: [],
    summary: 'Plain.',
    errors: [],
    handle,
  });
