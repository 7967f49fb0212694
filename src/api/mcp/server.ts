import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { RouteAnswer } from '#http/define-route.ts';
import { problemLine } from '#json-schema/problems.ts';
import { TenantSchemas } from '#json-schema/tenant-schemas.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Json } from '#kernel/stable-json.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import {
  inputSchema,
  objectSchema,
  toolParameters,
} from '#modules/functions/functions/presenter.ts';
import { findFunction, listFunctions } from '#modules/functions/functions/queries.ts';
import type { RunsClient } from '#modules/functions/runs/invocation/client.ts';
import { answerWith, type Message } from './protocol.ts';

/** Answers one JSON-RPC message or a batch with the actions of the connection. */
export const answerMessage = (caller: ToolCaller, message: Message): Promise<RouteAnswer> =>
  answerWith(
    {
      listTools: () => listTools(caller),
      callTool: (name, input) => callTool(caller, name, input),
    },
    message,
  );

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
    const output = await services.runs.triggerAction(request, signal);
    return { content: [{ type: 'text', text: JSON.stringify(output ?? null) }] };
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
