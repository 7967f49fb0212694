import {
  ErrorCode as RpcCode,
  McpError,
  type CallToolResult,
  type ListToolsResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { RouteAnswer } from '#http/define-route.ts';
import { problemLine } from '#json-schema/problems.ts';
import { TenantSchemas } from '#json-schema/tenant-schemas.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import type { AuditRule } from '#modules/access/audit/audited-routes.ts';
import { audited } from '#modules/access/audit/audited.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import {
  inputSchema,
  objectSchema,
  toolParameters,
} from '#modules/functions/functions/presenter.ts';
import { findFunction, listFunctions } from '#modules/functions/functions/queries.ts';
import type { RunsClient } from '#modules/functions/runs/invocation/client.ts';
import { answerWith, type Message } from './protocol.ts';
import { connectionResources, type ResourceReader } from './resources.ts';

/** Answers one JSON-RPC message or a batch with the actions of the connection. */
export const answerMessage = (
  tools: ToolCaller,
  reader: ResourceReader,
  message: Message,
): Promise<RouteAnswer> =>
  answerWith(
    {
      resources: connectionResources(tools, reader),
      listTools: (cursor) => toolPage(listTools(tools), cursor),
      callTool: (name, input) => callTool(tools, name, input, auditedRunner(tools, reader, name)),
    },
    message,
  );

/** Tools in a response of `tools/list`. */
const toolsPageMax = 500;

/** The tools after the one that the cursor names. @throws McpError for a cursor of no tool */
export function toolPage(tools: readonly Tool[], cursor: string | undefined): ListToolsResult {
  const last = cursor === undefined ? -1 : tools.findIndex(({ name }) => name === cursor);
  if (cursor !== undefined && last < 0) {
    throw new McpError(RpcCode.InvalidParams, 'The cursor is not valid: list again without it.');
  }
  const page = tools.slice(last + 1, last + 1 + toolsPageMax);
  const hasMore = last + 1 + page.length < tools.length;
  const nextCursor = page.at(-1)?.name;
  return { tools: page, ...(hasMore && nextCursor !== undefined ? { nextCursor } : {}) };
}

/** Runs an action; the default: without more. */
type ActionRunner = (run: () => Promise<Json | undefined>) => Promise<Json | undefined>;

/** A call of a client that named itself is in the audit trail. */
const auditedRunner =
  (
    { connection: { integrationKey, connectionId } }: ToolCaller,
    { caller, services, address }: ResourceReader,
    name: string,
  ): ActionRunner =>
  async (run) => {
    if (caller.agent === undefined) return run();
    const target = `POST /mcp ${integrationKey}/${connectionId} ${name}`;
    const rule: AuditRule = { action: 'mcp.call', target: () => target };
    const given = { params: {}, query: {}, body: {} };
    let output: Json | undefined;
    await audited(services, { rule, caller, address, given }, async () => {
      output = await run();
      return { status: 200 };
    });
    return output;
  };

/** The caller that lists and calls tools. */
export interface ToolCaller {
  readonly services: { readonly control: ControlPlane; readonly runs: RunsClient };
  readonly connection: Connection;
  readonly actor: string;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

const schemas = new TenantSchemas();

/** The enabled actions of the integration, except those whose input is no object (docs/reference/http.md#mcp). */
export function listTools({ services, connection }: ToolCaller): Tool[] {
  const { environmentUid, integrationKey } = connection;
  const found = listFunctions(services.control, environmentUid, { integrationKey, kind: 'action' });
  return found.flatMap((action) => {
    const parameters = toolParameters(action);
    if (!action.isEnabled || parameters === null) return [];
    // Properties are schemas: the compiler checked them.
    const schema = { ...parameters, ...objectSchema(action) } as Tool['inputSchema'];
    return [{ name: action.name, description: action.description, inputSchema: schema }];
  });
}

/**
 * Runs the action and resolves with its output as JSON text. A refusal is a result too, so that a model reads it: arguments
 * that the input schema does not take, an unknown tool, a failed action.
 */
export async function callTool(
  { services, connection, actor, signal }: ToolCaller,
  name: string,
  input: Readonly<Record<string, unknown>> | undefined,
  runner: ActionRunner = (run) => run(),
): Promise<CallToolResult> {
  const { environmentUid, integrationKey, connectionId } = connection;
  const ref = { environmentUid, integrationKey, connectionId, actor };
  // It was parsed from JSON.
  const args = input as Json | undefined;
  const action = findFunction(services.control, environmentUid, integrationKey, 'action', name);
  const schema = action === null ? null : inputSchema(action);
  const problems = schema === null ? [] : schemas.problems(schema, args ?? {});
  if (problems.length > 0) {
    const text = `Invalid arguments of "${name}": ${problems.map(problemLine).join('; ')}`;
    return { isError: true, content: [{ type: 'text', text }] };
  }
  try {
    const request = { ...ref, name, input: args };
    const output = await runner(() => services.runs.triggerAction(request, signal));
    const text = JSON.stringify(output ?? null);
    return {
      content: [{ type: 'text', text }],
      ...(isJsonObject(output) ? { structuredContent: output } : {}),
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { payload, upstream } = error.details;
    const refusal = {
      code: error.code,
      message: error.message,
      ...(payload === undefined ? {} : { payload }),
      ...(upstream === undefined ? {} : { upstream }),
    };
    const text = JSON.stringify(refusal);
    return { isError: true, content: [{ type: 'text', text }] };
  }
}
