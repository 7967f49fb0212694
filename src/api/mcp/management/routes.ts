import { z } from 'zod';
import type { AnyRoute, Caller, RouteAnswer } from '#http/define-route.ts';
import { flag } from '#http/fields.ts';
import type { Endpoints } from '#http/openapi/document.ts';
import { json, nothing } from '#http/responses.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { defineRoute, type Services } from '../../services.ts';
import {
  methodRefusal,
  rpcErrorShape,
  rpcMessage,
  rpcRefusal,
  rpcResponseShape,
} from '../json-rpc.ts';
import type { ManagementTool } from './describe-tools.ts';
import { actingCaller, agentOf, findSession, sessionId, type AgentSession } from './session.ts';

const scopes = ['environment:mcp'];

const sessionHeader = 'mcp-session-id';

/** Codes of JSON-RPC that the protocol's own servers use. */
const badRequest = -32_000;
const unknownSession = -32_001;

const query = z.strictObject({
  write: flag.optional().describe('True: offer the tools that change something, too.'),
});

const headers = z.object({
  [sessionHeader]: z
    .string()
    .max(1024)
    .optional()
    .describe('Session that `initialize` started; required by every other message.'),
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
      const session = sessionFor(body, input.headers[sessionHeader], input);
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
      const isStart = agentOf(body) !== null;
      return isStart ? withSession(answer, sessionId(services.vault, session)) : answer;
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

interface SessionInput {
  readonly caller: Caller;
  readonly services: Pick<Services, 'vault' | 'clock'>;
}

/** The session that the message starts or belongs to, or why there is none. */
function sessionFor(
  message: JsonObject,
  id: string | undefined,
  { caller: { keyId }, services: { vault, clock } }: SessionInput,
): AgentSession | RouteAnswer {
  const now = clock.now();
  const agent = agentOf(message);
  if (agent !== null) return { agent, keyId, startedAt: now };
  if (id === undefined) {
    return rpcRefusal(400, badRequest, 'Send initialize first, then its Mcp-Session-Id.');
  }
  const found = findSession(vault, id, { keyId, now });
  return found ?? rpcRefusal(404, unknownSession, 'Session not found: send initialize again.');
}

const withSession = (answer: RouteAnswer, id: string): RouteAnswer => ({
  ...answer,
  headers: { ...answer.headers, [sessionHeader]: id },
});
