import { z } from 'zod';
import type { RouteAnswer } from '#http/define-route.ts';
import { jsonObject } from '#http/fields.ts';
import { anyJson } from '#http/responses.ts';

const id = z.union([z.string(), z.number()]).nullable().describe('Id of the request.');

export const rpcErrorShape = z
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

/** The response to one message. */
export const rpcResponseShape = z.union([rpcResult, rpcErrorShape]).meta({ id: 'JsonRpcResponse' });

/** The response to a message or a batch. */
export const rpcAnswerShape = z.union([rpcResponseShape, z.array(rpcResponseShape)]);

export const rpcMessage = jsonObject.meta({
  examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
});

/** Of a request that the server answers itself, with a code of the server's range. */
export const rpcRefusal = (status: number, code: number, text: string): RouteAnswer => ({
  status,
  body: { jsonrpc: '2.0', error: { code, message: text }, id: null },
});

/** Of GET: there is no stream of events. */
export const methodRefusal: RouteAnswer = {
  ...rpcRefusal(405, -32_000, 'Method not allowed.'),
  headers: { allow: 'OPTIONS, POST' },
};
