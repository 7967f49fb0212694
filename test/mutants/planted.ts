/** Defects that a change could bring in, each with the tests that have to find it. */
export interface Planted {
  readonly name: string;
  readonly file: string;
  /** The text, which stands in the file once. */
  readonly from: string;
  readonly to: string;
  readonly tests: readonly string[];
}

export const planted: readonly Planted[] = [
  {
    name: 'pass a key of the right kind whatever its scopes',
    file: 'src/http/check-parts.ts',
    from: 'if (route.scopes.length === 0 || route.scopes.some((scope) => caller.has(scope))) return;',
    to: 'if (caller.credential !== "none") return;',
    tests: ['test/api/access.test.ts'],
  },
  {
    name: 'lose the fsync of a commit of the embedded log',
    file: 'src/adapters/event-log/embedded/tables.ts',
    from: `    PRAGMA synchronous = FULL;
    PRAGMA cache_size = -16384;`,
    to: `    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -16384;`,
    tests: ['test/unit/src/adapters/event-log/embedded/tables.test.ts'],
  },
  {
    name: 'read a page from the cursor on instead of after it',
    file: 'src/modules/records/read/queries.ts',
    from: `'position > {after:UInt64}'`,
    to: `'position >= {after:UInt64}'`,
    tests: ['test/unit/src/modules/records/read/pages.test.ts', 'test/e2e/gateway.test.ts'],
  },
  {
    name: 'project the changes of an owner that was fenced',
    file: 'src/modules/records/projection/row-builder.ts',
    from: 'if (change.owner_epoch < (this.#epochs.get(partition) ?? 0)) return;',
    to: '',
    tests: ['test/unit/src/modules/records/projection/projector.test.ts'],
  },
  {
    name: 'let a fenced writer of the embedded log commit',
    file: 'src/adapters/event-log/embedded/log-state.ts',
    from: 'if (this.#epochs.get(writer) === epoch) return;',
    to: 'if (epoch >= 0) return;',
    tests: ['test/contract/event-log.embedded.test.ts'],
  },
  {
    name: 'write what looks like a credential to the log of a run',
    file: 'src/modules/operations/logs/operation-log.ts',
    from: 'say(level, redactText(text), { context: kept, source });',
    to: 'say(level, text, { context: kept, source });',
    tests: ['test/unit/src/modules/operations/logs/operation-log.test.ts', 'test/e2e/logs.test.ts'],
  },
  {
    name: 'reach addresses that are not of the public internet',
    file: 'src/adapters/http-client/egress.ts',
    from: `if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';`,
    to: `if (address instanceof ipaddr.IPv4) return true;`,
    tests: ['test/unit/src/adapters/http-client/egress.test.ts'],
  },
  {
    name: 'take any signature of a webhook',
    file: 'src/modules/webhooks/webhooks-in/verify.ts',
    from: 'return a.length === b.length && timingSafeEqual(a, b);',
    to: 'return a.length === b.length;',
    tests: ['test/api/webhooks-in.test.ts', 'test/unit/src/modules/webhooks/webhooks-in'],
  },
  {
    name: 'delete at the end of a pass what was saved again unchanged',
    file: 'src/modules/records/owner/decisions/delete-tracking.ts',
    from: '    pass.bitmap.add(position);',
    to: '',
    tests: ['test/unit/src/modules/records/owner'],
  },
  {
    name: 'refresh again what another node has refreshed meanwhile',
    file: 'src/modules/connections/connections/refresh.ts',
    from: 'if (existing.credentialsVersion !== connection.credentialsVersion) return existing;',
    to: '',
    tests: ['test/contract/refresh.embedded.test.ts'],
  },
  {
    name: 'give the first answer to another body under the same Idempotency-Key',
    file: 'src/modules/access/idempotent-requests/idempotent-request.ts',
    from: `if (isKnown && state.requestHash !== requestHash) throw new GatewayError('idempotency_conflict');`,
    to: '',
    tests: ['test/api/idempotency.test.ts'],
  },
  {
    name: 'keep a session of the console alive after its longest life',
    file: 'src/modules/access/console-sessions/console-session.ts',
    from: 'Math.min(createdAt',
    to: 'Math.max(createdAt',
    tests: ['test/unit/src/modules/access/console-sessions'],
  },
  {
    name: 'take the cookie of the console from pages of other sites',
    file: 'src/http/same-origin.ts',
    from: `if (site !== undefined && site !== 'same-origin') return false;`,
    to: '',
    tests: ['test/unit/src/http/same-origin.test.ts'],
  },
  {
    name: 'count the try of an earlier notice for that of the present alert',
    file: 'src/modules/extensions/alerts/alert.ts',
    from: 'if (notice?.at !== command.of) return [];',
    to: 'if (notice === null) return [];',
    tests: ['test/unit/src/modules/extensions/alerts'],
  },
  {
    name: 'begin a trace of its own for each span',
    file: 'src/adapters/tracing/otlp.ts',
    from: 'parent === null ? ROOT_CONTEXT',
    to: 'parent !== undefined ? ROOT_CONTEXT',
    tests: ['test/e2e/tracing.test.ts'],
  },
  {
    name: 'accept a recorded webhook at any later time',
    file: 'src/client/webhooks.ts',
    from: 'Math.abs(sentAt.getTime() - now) > toleranceSeconds * 1000',
    to: 'Number.isNaN(now)',
    tests: ['test/unit/src/client/webhooks.test.ts'],
  },
  {
    name: 'leave the codes of refusals out of the OpenAPI document',
    file: 'src/http/openapi/operation.ts',
    from: `'x-svc-error-codes': codes,`,
    to: '',
    tests: ['test/unit/src/http/openapi.test.ts'],
  },
  {
    name: 'describe nullable fields in a form that clients do not compile from',
    file: 'src/http/openapi/schemas.ts',
    from: 'sized(withoutObjectDefault(nullable(Object.fromEntries(entries) as JsonObject)))',
    to: 'sized(withoutObjectDefault(Object.fromEntries(entries) as JsonObject))',
    tests: ['test/unit/src/http/openapi.test.ts'],
  },
  {
    name: 'describe large integers as integers of 32 bits',
    file: 'src/http/openapi/schemas.ts',
    from: `{ ...schema, format: 'int64' }`,
    to: 'schema',
    tests: ['test/unit/src/http/openapi.test.ts'],
  },
  {
    name: 'answer a failed action over MCP as if it had succeeded',
    file: 'src/api/mcp/server.ts',
    from: `    const text = JSON.stringify(refusal);
    return { isError: true,`,
    to: `    const text = JSON.stringify(refusal);
    return {`,
    tests: ['test/e2e/mcp.test.ts'],
  },
];
