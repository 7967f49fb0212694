import { z } from 'zod';
import { type AnyRoute, errorAt } from '#http/define-route.ts';
import { connectionId, integrationKey } from '#http/fields.ts';
import { json, nothing } from '#http/responses.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import { defineRoute } from '../services.ts';
import { methodRefusal, rpcAnswerShape, rpcErrorShape, rpcMessage } from './json-rpc.ts';

const scopes = ['environment:mcp'];

const post = defineRoute({
  method: 'POST',
  path: '/mcp',
  credential: 'environment',
  scopes,
  summary: 'Call the MCP server.',
  description:
    'JSON-RPC of the Model Context Protocol, stateless, over streamable HTTP. The tools are the actions of an integration.',
  headers: z.object({
    'provider-config-key': integrationKey,
    'connection-id': connectionId,
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
  },
  errors: [errorAt(400, 'unknown_connection')],
  async handle({ headers, body, caller, services, signal }) {
    const { environmentUid, actor } = caller;
    const connection = await requireConnection(
      services.control,
      environmentUid,
      headers['provider-config-key'],
      headers['connection-id'],
      { status: 400, integrationCode: 'unknown_connection' },
    );
    const request = {
      body,
      protocolVersion: headers['mcp-protocol-version'],
      version: services.settings.version,
    };
    // Loaded on the first call: importing the library of the protocol would add 0.1 s to every start.
    const { answerMessage } = await import('./server.ts');
    return answerMessage({ services, connection, actor, signal }, request);
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
