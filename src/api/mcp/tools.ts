import { McpError, type CallToolResult, type Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Services } from '../services.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/stable-json.ts';
import type { Connection } from '../../modules/connections/connections/state.ts';
import { toolParameters } from '../../modules/functions/functions/presenter.ts';
import { listFunctions } from '../../modules/functions/functions/queries.ts';

/** The caller that lists and calls tools. */
export interface ToolCaller {
  readonly services: Pick<Services, 'control' | 'runs'>;
  readonly connection: Connection;
  readonly actor: string;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

/** JSON-RPC error code, from the range for implementations. */
const toolFailed = -32_000;

/** The enabled actions of the integration, except those whose input is no object (docs/reference/http.md#mcp). */
export function listTools({ services, connection }: ToolCaller): Tool[] {
  const { environmentUid, integrationKey } = connection;
  const found = listFunctions(services.control, environmentUid, { integrationKey, kind: 'action' });
  return found.flatMap((action) => {
    const parameters = toolParameters(action);
    if (!action.isEnabled || parameters === null) return [];
    const { properties, required } = parameters;
    // Properties are schemas: the compiler checked them.
    const inputSchema = { type: 'object', properties, required } as Tool['inputSchema'];
    return [{ name: action.name, description: action.description, inputSchema }];
  });
}

/**
 * Runs the action and resolves with its output as JSON text.
 * @throws McpError with the code of the gateway's error in its data
 */
export async function callTool(
  { services, connection, actor, signal }: ToolCaller,
  name: string,
  input: Readonly<Record<string, unknown>> | undefined,
): Promise<CallToolResult> {
  const { environmentUid, integrationKey, connectionId } = connection;
  const ref = { environmentUid, integrationKey, connectionId, actor };
  try {
    // It was parsed from JSON.
    const request = { ...ref, name, input: input as Json | undefined };
    const output = await services.runs.triggerAction(request, signal);
    return { content: [{ type: 'text', text: JSON.stringify(output ?? null) }] };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { payload, upstream } = error.details;
    throw new McpError(toolFailed, error.message, {
      code: error.code,
      ...(payload === undefined ? {} : { payload }),
      ...(upstream === undefined ? {} : { upstream }),
    });
  }
}
