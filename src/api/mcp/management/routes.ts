import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { flag } from '#http/fields.ts';
import type { Endpoints } from '#http/openapi/document.ts';
import { json, nothing } from '#http/responses.ts';
import { defineRoute } from '../../services.ts';
import {
  methodRefusal,
  rpcErrorShape,
  rpcMessage,
  rpcRefusal,
  rpcResponseShape,
} from '../json-rpc.ts';
import { actingCaller, sessionField, sessionFor, sessionHeader, withSession } from '../session.ts';
import type { ManagementTool } from './describe-tools.ts';

const scopes = ['environment:mcp'];

const missingSession = rpcRefusal(400, -32_000, 'Send initialize first, then its Mcp-Session-Id.');

const query = z.strictObject({
  write: flag.optional().describe('True: offer the tools that change something, too.'),
});

const headers = z.object({
  [sessionHeader]: sessionField.describe(
    'Session that `initialize` started; required by every other message.',
  ),
  'mcp-protocol-version': z
    .string()
    .max(64)
    .optional()
    .describe('Version of the protocol that the client uses.'),
});

/** @param endpoints read at the first request, because they include these routes */
export function managementRoutes(endpoints: () => Endpoints): readonly AnyRoute[] {
  let described: Promise<readonly ManagementTool[]> | undefined;
  const tools = async (): Promise<readonly ManagementTool[]> => {
    // Loaded on the first call, as the library of the protocol is.
    const { describeTools } = await import('./describe-tools.ts');
    described ??= describeTools(endpoints());
    return described;
  };

  const post = defineRoute({
    method: 'POST',
    path: '/mcp/management',
    // Each tool is refused by its own operation.
    writes: false,
    credential: 'environment',
    scopes,
    summary: 'Call the MCP server that manages the environment.',
    description:
      'JSON-RPC of the Model Context Protocol over streamable HTTP, one message a request. The tools are operations of this API: those that read, and with `write` those that change something. A key calls a tool if it has the scope of the operation. `initialize` starts a session; its id is sent with every later message.',
    query,
    headers,
    body: rpcMessage,
    answers: {
      200: json('The response.', rpcResponseShape),
      202: nothing('The message was a notification.'),
      400: json('A message, or the version, is not of the protocol.', rpcErrorShape),
      404: json('There is no such session.', rpcErrorShape),
    },
    errors: [],
    async handle(input) {
      const { body, caller, services, address, signal } = input;
      const id = input.headers[sessionHeader];
      const session = sessionFor(body, id, input) ?? missingSession;
      if ('status' in session) return session;
      const agentCall = {
        caller: actingCaller(caller, session),
        services,
        address,
        signal,
        mayWrite: input.query.write === true,
      };
      const message = {
        body,
        protocolVersion: input.headers['mcp-protocol-version'],
        version: services.settings.version,
      };
      const { answerAgent } = await import('./call-tool.ts');
      const answer = await answerAgent(await tools(), agentCall, message);
      return withSession(answer, body, { session, vault: services.vault });
    },
  });
  return [post, get];
}

const get = defineRoute({
  method: 'GET',
  path: '/mcp/management',
  credential: 'environment',
  scopes,
  summary: 'Refused: the MCP server that manages has no stream of events.',
  query,
  answers: { 405: json('Send POST.', rpcErrorShape) },
  errors: [],
  handle: async () => methodRefusal,
});
