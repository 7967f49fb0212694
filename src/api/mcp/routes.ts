import { z } from 'zod';
import { type AnyRoute, errorAt } from '#http/define-route.ts';
import { connectionId, integrationKey } from '#http/fields.ts';
import { json, nothing } from '#http/responses.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import { defineRoute } from '../services.ts';
import { methodRefusal, rpcAnswerShape, rpcErrorShape, rpcMessage } from './json-rpc.ts';
import { actingCaller, sessionField, sessionFor, sessionHeader, withSession } from './session.ts';

const scopes = ['environment:mcp'];

const post = defineRoute({
  method: 'POST',
  path: '/mcp',
  credential: 'environment',
  scopes,
  summary: 'Call the MCP server.',
  description:
    'JSON-RPC of the Model Context Protocol, over streamable HTTP. The tools are the actions of an integration, the resources the records of the connection and the definition of the provider. `initialize` starts a session, which later messages may name.',
  headers: z.object({
    'provider-config-key': integrationKey,
    'connection-id': connectionId,
    [sessionHeader]: sessionField.describe(
      'Session that `initialize` started; with it calls are audited with the name of the client.',
    ),
    'mcp-protocol-version': z
      .string()
      .max(64)
      .optional()
      .describe('Version of the protocol that the client uses.'),
  }),
  body: z.union([rpcMessage, z.array(rpcMessage).min(1).max(100)]),
  answers: {
    200: json('The answers.', rpcAnswerShape),
    202: nothing('Nothing was asked: the messages were notifications.'),
    400: json('A message, or the version, is not of the protocol.', rpcErrorShape),
    404: json('There is no such session.', rpcErrorShape),
  },
  errors: [errorAt(400, 'unknown_connection')],
  async handle(input) {
    const { headers, body, services, address, signal } = input;
    const { control, vault, settings } = services;
    const connection = await requireConnection(
      control,
      input.caller.environmentUid,
      headers['provider-config-key'],
      headers['connection-id'],
      { status: 400, integrationCode: 'unknown_connection' },
    );
    const session = sessionFor(body, headers[sessionHeader], input);
    if (session !== null && 'status' in session) return session;
    const caller = session === null ? input.caller : actingCaller(input.caller, session);
    const request = {
      body,
      protocolVersion: headers['mcp-protocol-version'],
      version: settings.version,
    };
    // Loaded on the first call: importing the library of the protocol would add 0.1 s to every start.
    const { answerMessage } = await import('./server.ts');
    const { actor } = caller;
    const toolCaller = { services, connection, actor, signal };
    const answer = await answerMessage(toolCaller, { caller, services, address }, request);
    return session === null ? answer : withSession(answer, body, { session, vault });
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/mcp',
  credential: 'environment',
  scopes,
  summary: 'Refused: the MCP server has no stream of events.',
  answers: { 405: json('Send POST.', rpcErrorShape) },
  errors: [],
  async handle() {
    return methodRefusal;
  },
});

export const mcpRoutes: readonly AnyRoute[] = [post, get];
