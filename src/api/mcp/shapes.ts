import { z } from 'zod';
import { anyJson } from '../../http/responses.ts';

const id = z.union([z.string(), z.number()]).nullable();

export const rpcErrorShape = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    error: z.strictObject({
      code: z.int(),
      message: z.string(),
      data: anyJson.optional(),
    }),
    id: id.optional(),
  })
  .meta({
    id: 'JsonRpcError',
    examples: [
      { jsonrpc: '2.0', error: { code: -32_000, message: 'Method not allowed.' }, id: null },
    ],
  });

const rpcResult = z
  .strictObject({ jsonrpc: z.literal('2.0'), result: anyJson, id })
  .meta({ id: 'JsonRpcResult', examples: [{ jsonrpc: '2.0', result: { tools: [] }, id: 1 }] });

const one = z.union([rpcResult, rpcErrorShape]);

/** The response to a message or a batch. */
export const rpcAnswerShape = z.union([one, z.array(one)]);
