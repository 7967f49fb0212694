import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { checkContentType, checkScope, decoded, parsePart } from '#http/check-parts.ts';
import type { AnyRoute, Caller, IdempotentCall, RouteAnswer } from '#http/define-route.ts';
import { isWriting } from '#http/pipeline.ts';
import { parseQuery } from '#http/query.ts';
import type { Match } from '#http/router.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { agentAuditRule, auditRule, type AuditRule } from '#modules/access/audit/audited-routes.ts';
import { audited, type AuditCall } from '#modules/access/audit/audited.ts';
import { withIdempotencyKey } from '#modules/access/idempotent-requests/handlers.ts';
import type { Services } from './services.ts';

type Schema = z.ZodType | undefined;

/** An authenticated call of a route, as an HTTP request or as a tool. */
export interface RouteCall {
  readonly match: Match;
  readonly caller: Caller;
  readonly request: Pick<IncomingMessage, 'headers' | 'url'>;
  /** Text after `?`. */
  readonly search: string;
  /** Address of the client. */
  readonly address: string;
  readonly signal: AbortSignal;
  /** Undefined: the call has none. */
  readBody(): Promise<unknown>;
}

/**
 * Checks the call, runs the handler, and audits both. Order: scope, content type, query, body, path, headers
 * (docs/reference/errors.md#order-of-checks).
 * @throws GatewayError the refusal of the call
 */
export async function callRoute(call: RouteCall, services: Services): Promise<RouteAnswer> {
  const { caller, address } = call;
  const rule = ruleOf(call.match.route, caller);
  if (rule === null) return handled(call, services);
  const audit: AuditCall = { rule, caller, address, given: null };
  return audited(services, audit, () => handled(call, services, audit));
}

const auditRules = new WeakMap<AnyRoute, AuditRule | null>();

function ruleOf(route: AnyRoute, { agent }: Caller): AuditRule | null {
  if (agent !== undefined) return agentAuditRule(route, isWriting(route));
  const existing = auditRules.get(route);
  if (existing !== undefined) return existing;
  const rule = auditRule(route);
  auditRules.set(route, rule);
  return rule;
}

/** @param audit receives the parsed request */
async function handled(
  call: RouteCall,
  services: Services,
  audit?: AuditCall,
): Promise<RouteAnswer> {
  const { caller, signal, address } = call;
  const { route, params } = call.match;
  checkScope(route, caller);
  checkContentType(call.request, route);
  const query = parsePart(route.query as Schema, parseQuery(call.search), 'invalid_query_params');
  const sent = route.body === undefined ? undefined : await call.readBody();
  const body =
    route.body === undefined ? {} : parsePart(route.body as Schema, sent ?? {}, 'invalid_body');
  const path = parsePart(route.params as Schema, decoded(params), 'invalid_uri_params', true);
  const headers = parsePart(route.headers as Schema, call.request.headers, 'invalid_headers', true);
  const idempotency = idempotencyOf(call, sent, services);
  if (audit !== undefined) audit.given = { params: path, query, body };
  const input = { query, body, params: path, headers, caller, services, address, signal };
  if (idempotency === undefined || caller.credential === 'none') return route.handle(input);
  const task = (workId: string): Promise<RouteAnswer> =>
    route.handle({ ...input, idempotency: { ...idempotency, workId } });
  return withIdempotencyKey(services, { caller, signal, idempotency }, task);
}

function idempotencyOf(
  call: RouteCall,
  sent: unknown,
  services: Services,
): IdempotentCall | undefined {
  const header = call.request.headers['idempotency-key'];
  if (header === undefined || call.match.route.method === 'GET') return undefined;
  if (
    typeof header !== 'string' ||
    header === '' ||
    header.length > limits.idempotencyKeyCharsMax
  ) {
    const message = `Idempotency-Key must have 1 to ${limits.idempotencyKeyCharsMax} characters.`;
    const path = ['idempotency-key'];
    throw new GatewayError('invalid_headers', { errors: [{ code: 'custom', message, path }] });
  }
  const requestText = [call.match.route.method, call.request.url, JSON.stringify(sent)].join('\n');
  const requestHash = services.vault.fingerprint('idempotent-request', requestText);
  return { idempotencyKey: header, requestHash };
}
