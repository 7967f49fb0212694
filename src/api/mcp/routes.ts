import { z } from 'zod';
import { type AnyRoute, errorAt } from '#http/define-route.ts';
import { connectionId, integrationKey, jsonObject } from '#http/fields.ts';
import { anyJson, json, nothing } from '#http/responses.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import { defineRoute } from '../services.ts';

const id = z.union([z.string(), z.number()]).nullable().describe('Id of the request.');

const rpcErrorShape = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    error: z
      .strictObject({
        code: z.int().describe('Code of JSON-RPC.'),
        message: z.string(),
        data: anyJson.optional().describe('Further facts of the error.'),
      })
      .describe('The error, as JSON-RPC defines it.'),
    id: id.optional(),
  })
  .meta({
    id: 'JsonRpcError',
    examples: [
      { jsonrpc: '2.0', error: { code: -32_000, message: 'Method not allowed.' }, id: null },
    ],
  });

const rpcResult = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    result: anyJson.describe('Result of the method.'),
    id,
  })
  .meta({ id: 'JsonRpcResult', examples: [{ jsonrpc: '2.0', result: { tools: [] }, id: 1 }] });

const one = z.union([rpcResult, rpcErrorShape]).meta({ id: 'JsonRpcResponse' });

/** The response to a message or a batch. */
const rpcAnswerShape = z.union([one, z.array(one)]);

const scopes = ['environment:mcp'];

const message = jsonObject.meta({
  examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
});

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
  body: z.union([message, z.array(message).min(1).max(100)]),
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

const refusal = {
  jsonrpc: '2.0',
  error: { code: -32_000, message: 'Method not allowed.' },
  id: null,
};

const get = defineRoute({
  method: 'GET',
  path: '/mcp',
  credential: 'environment',
  scopes,
  summary: 'Refused: the MCP server has no stream of events.',
  answers: { 405: json('Send POST.', rpcErrorShape) },
  errors: [],
  async handle() {
    return { status: 405, body: refusal, headers: { allow: 'OPTIONS, POST' } };
  },
});

export const mcpRoutes: readonly AnyRoute[] = [post, get];
